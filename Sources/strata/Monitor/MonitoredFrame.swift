import StrataCore

/// A frame as `bus/monitor` told of it, and what is known of the call that it answers.
struct MonitoredFrame {
    let json: JSON
    /// `call`, `reply` …
    let kind: String
    let from: String
    let to: String
    /// The module that gets it, as far as that is known; empty for a broadcast.
    let receiver: String
    let name: String
    let code: String
    /// `Interface/action` of a call, or of the one that it answers; empty where there is none.
    let action: String
    /// Microseconds from a call until this answer of it.
    let took: Int64?

    /// - Parameter calls: those seen before; a call is added.
    init(_ json: JSON, _ calls: inout SeenCalls) {
        func text(_ member: String) -> String { json[member]?.string ?? "" }
        self.json = json
        kind = text("kind")
        from = text("from")
        to = text("to")
        name = text("name")
        code = text("code")
        let at = json["at"]?.integer ?? 0
        let isCall = kind == "call"
        receiver = json["callee"]?.string ?? (isCall ? String(to.prefix { $0 != "/" && $0 != "#" }) : to)
        let id = json["id"]?.integer
        if isCall, code.isEmpty, let id { calls.add(id, SeenCalls.Seen(at: at, action: to)) }
        let seen = isCall ? nil : id.flatMap { calls[$0] }
        action = isCall ? to : seen?.action ?? ""
        took = seen.map { max(0, at - $0.at) }
    }

    /// The action without an instance: `Cart/add` of `Cart#12/add`.
    var plainAction: String {
        guard let sign = action.firstIndex(of: "#"), let slash = action[sign...].firstIndex(of: "/") else {
            return action
        }
        return String(action[..<sign] + action[slash...])
    }
}
