import Hummingbird

/// The files of the page, which are part of the program.
enum Assets {
    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
    ]

    static func add(to router: Router<PageContext>) {
        router.get("/") { _, _ in response("index.html") }
        for name in files.keys.sorted() { router.get(RouterPath(stringLiteral: "/\(name)")) { _, _ in response(name) } }
    }

    private static func response(_ name: String) -> Response {
        guard let bytes = files[name] else { return .failure(.notFound, "there is no \(name)") }
        let end = name.split(separator: ".").last.map(String.init) ?? ""
        return .bytes(bytes, type: types[end] ?? "application/octet-stream")
    }
}
