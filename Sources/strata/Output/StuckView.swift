import StrataCore
import StrataOperator

/// The requests that are open, and the modules that they wait for, for `strata why --stuck`.
struct StuckView {
    let trees: [[RequestTree.Request]]
    /// The module that was asked about; nil for all.
    let module: String?
    let omitted: Int
    /// The present time, in milliseconds since 1970.
    let now: Int64

    func show(_ painter: Painter) {
        if trees.isEmpty {
            StandardOutput.write(line: "No request is open\(module.map { " for \(Printable.line($0))" } ?? "").")
        }
        for request in trees.joined() { StandardOutput.write(line: line(request, painter)) }
        if omitted > 0 {
            let text = "\(omitted) further requests are open; the oldest are shown."
            StandardOutput.write(line: painter.paint(text, .dim))
        }
    }

    private func line(_ request: RequestTree.Request, _ painter: Painter) -> String {
        let indent = String(repeating: "  ", count: request.indent)
        let age = Duration.short(milliseconds: now - request.since)
        let of = request.module.isEmpty ? "" : " of \(request.module)"
        let text = Printable.line("\(request.from) waits \(age) for \(request.to)\(of)")
        let state = why(request).map { painter.paint(" (\(Printable.line($0)))", .dim) } ?? ""
        let circle = request.isCircle ? painter.paint("  circle: \(Printable.line(request.module))", .red) : ""
        return "\(indent)\(text)\(state)\(circle)"
    }

    /// Returns why a request has not reached its module; nil if it has.
    private func why(_ request: RequestTree.Request) -> String? {
        switch request.state {
        case "waiting": "\(request.module) isn't ready"
        case "authorizing": "the authorizer is asked"
        case "queued": "\(request.module) hasn't read it"
        default: nil
        }
    }

    /// The requests for a program, one after another.
    var json: [JSON] {
        trees.joined().map { request in
            .object((request.json.object ?? []) + (request.isCircle ? [.init("circle", true)] : []))
        }
    }
}
