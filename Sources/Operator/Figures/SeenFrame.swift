public import StrataCore

/// A frame as `bus/monitor` told of it, and what is known of the call that it answers.
public struct SeenFrame: Sendable {
    /// As the bus told it.
    public let json: JSON
    /// `Interface/action` of a call, or of the one that it answers; empty where there is none.
    public let action: String
    /// Microseconds from a call until this answer of it.
    public let took: Int64?

    /// - Parameters:
    ///   - json: a partial reply of `bus/monitor`.
    ///   - calls: those seen before; a call is added.
    public init(_ json: JSON, _ calls: inout SeenCalls) {
        self.json = json
        let (at, to, id) = (json["at"]?.integer ?? 0, json["to"]?.string ?? "", json["id"]?.integer)
        guard json["kind"]?.string == "call" else {
            let seen = id.flatMap { calls[$0] }
            (action, took) = (seen?.action ?? "", seen.map { max(0, at - $0.at) })
            return
        }
        (action, took) = (to, nil)
        if let id, code.isEmpty { calls.add(id, SeenCalls.Seen(at: at, action: to)) }
    }

    /// `call`, `reply` …
    public var kind: String { text("kind") }
    /// Who sent it: a module's name, `operator`, `launcher` or `bus`.
    public var from: String { text("from") }
    /// `Interface/action`, a URL, or a module's name.
    public var to: String { text("to") }
    /// A notification's or an event's.
    public var name: String { text("name") }
    /// Why it was refused, or an error's code; empty where nothing is wrong.
    public var code: String { text("code") }
    /// When it passed, in microseconds since 1970.
    public var at: Int64 { json["at"]?.integer ?? 0 }
    /// The length of its body; nil where the bus doesn't say.
    public var bytes: Int64? { json["bytes"]?.integer }
    /// Frames before it that the monitor didn't get.
    public var missed: Int64 { max(0, json["missed"]?.integer ?? 0) }

    /// The module that gets it, as far as that is known; empty for a broadcast.
    public var receiver: String {
        json["callee"]?.string ?? (kind == "call" ? String(to.prefix { $0 != "/" && $0 != "#" }) : to)
    }

    private func text(_ member: String) -> String { json[member]?.string ?? "" }

    /// The action without an instance: `Cart/add` of `Cart#12/add`.
    public var plainAction: String {
        guard let sign = action.firstIndex(of: "#"), let slash = action[sign...].firstIndex(of: "/") else {
            return action
        }
        return String(action[..<sign] + action[slash...])
    }
}

extension Request {
    /// A monitor's: each partial reply is a ``SeenFrame``. It goes on until it is cancelled.
    /// - Parameter params: the members that `bus/monitor` takes.
    public static func monitor(_ params: [JSON.Member] = []) -> Request {
        var request = Request(to: "bus/monitor", .object(params), deadline: 0)
        request.isEndless = true
        request.credit = 4_096
        return request
    }
}

/// Calls that a monitor saw, for their answers: which action those are of, and how long
/// it took. The oldest ones give way; their answers are shown without.
public struct SeenCalls: Sendable {
    /// How many are kept.
    public static let most = 4_096

    struct Seen {
        /// Microseconds since 1970.
        var at: Int64
        /// `Interface/action`
        var action: String
    }

    private var byID: [Int64: Seen] = [:]
    /// Their numbers as they came, in a ring.
    private var ids: [Int64] = []
    private var oldest = 0

    /// None yet.
    public init() {}

    /// An answer may be one of several, so none takes its call away.
    subscript(id: Int64) -> Seen? { byID[id] }

    mutating func add(_ id: Int64, _ seen: Seen) {
        if byID.updateValue(seen, forKey: id) != nil { return }
        if ids.count < Self.most {
            ids.append(id)
        } else {
            byID[ids[oldest]] = nil
            ids[oldest] = id
            oldest = (oldest + 1) % Self.most
        }
    }
}
