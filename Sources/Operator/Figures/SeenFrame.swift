public import StrataCore

/// A frame from `bus/monitor`, together with what is known of the call that it answers.
public struct SeenFrame: Sendable {
    /// The JSON from the bus.
    public let json: JSON
    /// `Interface/action` of a call, or of the call that this frame answers; empty if there is
    /// none.
    public let action: String
    /// The microseconds from a call to this answer of it.
    public let took: Int64?

    /// - Parameters:
    ///   - json: a partial reply of `bus/monitor`.
    ///   - calls: the calls seen before; if this frame is a call, it is added.
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

    /// The frame's kind: `call`, `reply` …
    public var kind: String { text("kind") }
    /// The sender: a module's name, `operator`, `launcher` or `bus`.
    public var from: String { text("from") }
    /// The target: `Interface/action`, a URL, or a module's name.
    public var to: String { text("to") }
    /// The name of a notification or an event.
    public var name: String { text("name") }
    /// What a notification is about; nil if its sender didn't say.
    public var object: String? { json["object"]?.string }
    /// Why a requested body is missing, for people; nil if it isn't.
    public var omission: String? {
        json["omitted"]?.string.map { reason in
            switch reason {
            case "size": "over 64 KiB, or over the frame's limit"
            case "room": "the bus had no room for it"
            default: "not JSON of at most 4,096 values"
            }
        }
    }
    /// The first 4 KiB of a requested body that is too long to be shown; nil of any other.
    public var start: String? { json["start"]?.string }
    /// The reason for a refusal, or an error's code; empty if all is well.
    public var code: String { text("code") }
    /// The time when it passed the bus, in microseconds since 1970.
    public var at: Int64 { json["at"]?.integer ?? 0 }
    /// The length of its body, in bytes; nil if the bus doesn't report it.
    public var bytes: Int64? { json["bytes"]?.integer }
    /// The number of descriptors that came with it.
    public var descriptors: Int64 { max(0, json["descriptors"]?.integer ?? 0) }
    /// The number of earlier frames that the monitor missed.
    public var missed: Int64 { max(0, json["missed"]?.integer ?? 0) }

    /// The number of frames of the same sender, receiver, kind and name that were left out before
    /// this one, because of `most`.
    public var left: Int64 { max(0, json["left"]?.integer ?? 0) }

    /// What a partial reply that is no frame tells was left out: the frames of each sender,
    /// receiver, kind and name. Nil if it is a frame.
    public var leftOut: [JSON]? { json["left"]?.array }

    /// The module that receives it, as far as that is known; empty for a broadcast.
    public var receiver: String {
        json["callee"]?.string ?? (kind == "call" ? String(to.prefix { $0 != "/" && $0 != "#" }) : to)
    }

    private func text(_ member: String) -> String { json[member]?.string ?? "" }

    /// The action without an instance: `Cart/add` for `Cart#12/add`.
    public var plainAction: String {
        guard let sign = action.firstIndex(of: "#"), let slash = action[sign...].firstIndex(of: "/") else {
            return action
        }
        return String(action[..<sign] + action[slash...])
    }
}

extension Request {
    /// Returns the request of a monitor, whose partial replies are ``SeenFrame``s. It continues
    /// until it is cancelled.
    /// - Parameter params: the members that `bus/monitor` takes.
    public static func monitor(_ params: [JSON.Member] = []) -> Request {
        var request = Request(to: "bus/monitor", .object(params), deadline: 0)
        request.isEndless = true
        request.credit = 4_096
        return request
    }
}

/// The calls that a monitor has seen. They supply the action and the duration of their answers.
/// When there are too many, the oldest are removed; their answers are shown without both.
public struct SeenCalls: Sendable {
    /// The most calls that are kept.
    public static let most = 4_096

    struct Seen {
        /// Microseconds since 1970.
        var at: Int64
        /// The call's target, `Interface/action`.
        var action: String
    }

    private var byID: [Int64: Seen] = [:]
    /// The ids of the calls in order of arrival, as a ring.
    private var ids: [Int64] = []
    private var oldest = 0

    /// Makes an empty list.
    public init() {}

    /// The call with an id. It is kept after an answer, since more answers may follow.
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
