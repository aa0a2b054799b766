public import StrataCore

/// A module as `bus/modules` tells of it. What the bus doesn't say is 0, empty or nil.
public struct ModuleRow: Sendable {
    /// Every state that a module can be in, as the protocol names them.
    public static let states = [
        "absent", "starting", "settingUp", "setUp", "initializing", "ready", "stopping", "restarting", "failed",
    ]

    /// An action that the bus refuses for a while, because the module died of it.
    public struct Quarantine: Sendable {
        /// `Interface/action`.
        public let action: String
        /// Milliseconds since 1970.
        public let until: Int64
        /// How often the module died of it.
        public let deaths: Int64
    }

    /// As the bus told it.
    public let json: JSON
    /// The process's own resident memory in bytes, anonymous and shared; nil where there is no
    /// such process on this machine, and where nobody looked.
    public internal(set) var memory: UInt64?

    init(_ json: JSON) { self.json = json }

    /// The module's name.
    public var name: String { text("name") ?? "?" }
    /// One of ``states``.
    public var state: String { text("state") ?? "?" }
    /// Whether it takes requests.
    public var isReady: Bool { state == "ready" }
    /// The level's name.
    public var level: String { text("level") ?? "" }
    /// Its place among those of its level.
    public var priority: Int64 { number("priority") }
    /// When it is started: `eager`, `manual` …
    public var start: String { text("start") ?? "" }
    /// Why it is in its state.
    public var reason: String { text("reason") ?? "" }
    /// Its process; nil for none.
    public var pid: Int32? { json["pid"]?.integer.flatMap { $0 > 0 ? Int32(clamping: $0) : nil } }
    /// When it came to its state, in milliseconds since 1970.
    public var since: Int64? { json["since"]?.integer }
    /// How often it was started again.
    public var restarts: Int64 { number("restarts") }
    /// Requests that it is serving.
    public var open: Int64 { number("open") }
    /// Requests that wait until it is ready.
    public var waiting: Int64 { number("waiting") }
    /// Bytes on their way to it.
    public var queued: Int64 { number("queued") }

    /// Whether its row has changes that take effect at its next start.
    public var isPending: Bool { json["pending"]?.bool ?? (json["pending"]?.array?.isEmpty == false) }

    /// The actions that are refused now.
    public var quarantined: [Quarantine] {
        (json["setAside"]?.array ?? []).compactMap { entry in
            guard let action = entry["action"]?.string, let until = entry["until"]?.integer else { return nil }
            return Quarantine(action: action, until: until, deaths: entry["deaths"]?.integer ?? 0)
        }
    }

    /// How long its process has run, in milliseconds; nil where that isn't known.
    /// - Parameter now: milliseconds since 1970.
    public func uptime(at now: Int64) -> Int64? {
        guard pid != nil, let began = json["startedAt"]?.integer ?? since, began > 0 else { return nil }
        return now - began
    }

    private func text(_ member: String) -> String? { json[member]?.string }
    private func number(_ member: String) -> Int64 { json[member]?.integer ?? 0 }
}

extension [ModuleRow] {
    /// The modules that the answer of `bus/modules` has.
    public init(_ answer: JSON) { self = (answer["modules"]?.array ?? []).map(ModuleRow.init) }
}
