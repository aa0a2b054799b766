/// The head of a request of HTTP/1.1, as far as it matters to who serves one
/// document.
struct HTTPRequest {
    /// How many bytes a head may have.
    static let longest = 8 << 10

    let method: String
    /// Without the query.
    let path: String
    /// Whom it means: the header `Host`, and what a whole URL says; none of HTTP/1.0's
    /// without either.
    let hosts: [String]

    /// How far the bytes of a request are one.
    enum Reading {
        case unfinished
        case malformed
        case tooLong
        case request(HTTPRequest)
    }

    /// Reads what has come so far.
    static func read(_ bytes: [UInt8]) -> Reading {
        guard let lines = head(bytes) else { return bytes.count > longest ? .tooLong : .unfinished }
        guard lines.reduce(0, { $0 + $1.count + 2 }) <= longest else { return .tooLong }
        guard let first = lines.first, let request = HTTPRequest(line: first, headers: lines.dropFirst()) else {
            return .malformed
        }
        return .request(request)
    }

    /// The lines up to the empty one, without their ends; nil where that hasn't
    /// come. A line may end with a line feed alone, as people type it.
    private static func head(_ bytes: [UInt8]) -> [ArraySlice<UInt8>]? {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            var line = bytes[start..<end]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            if line.isEmpty, !lines.isEmpty { return lines }
            // Empty lines before a request are passed over.
            if !line.isEmpty { lines.append(line) }
            start = end + 1
        }
        return nil
    }

    private init?(line: ArraySlice<UInt8>, headers: ArraySlice<ArraySlice<UInt8>>) {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, Self.isToken(words[0]), words[1].allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        let version = String(decoding: words[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else { return nil }
        var hosts: [String] = []
        for header in headers {
            guard let colon = header.firstIndex(of: UInt8(ascii: ":")), Self.isToken(header[..<colon]) else {
                return nil
            }
            if String(decoding: header[..<colon], as: UTF8.self).lowercased() == "host" {
                hosts.append(Self.trimmed(header[header.index(after: colon)...]))
            }
        }
        guard hosts.count == 1 || (hosts.isEmpty && version == "HTTP/1.0") else { return nil }
        guard let (host, path) = Self.parts(String(decoding: words[1], as: UTF8.self)) else { return nil }
        method = String(decoding: words[0], as: UTF8.self)
        self.path = path
        self.hosts = hosts + (host.map { [$0] } ?? [])
    }

    /// Of `/path?query`, or of a whole URL, as to a proxy.
    private static func parts(_ target: String) -> (host: String?, path: String)? {
        var rest = target[...]
        var host: String?
        if target.lowercased().hasPrefix("http://") {
            rest = rest.dropFirst(7)
            host = String(rest.prefix { $0 != "/" })
            rest = rest.drop { $0 != "/" }
            if rest.isEmpty { rest = "/" }
        }
        guard rest.hasPrefix("/") || rest == "*" else { return nil }
        return (host, String(rest.prefix { $0 != "?" }))
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let rest = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(decoding: Array(rest), as: UTF8.self)
    }

    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
