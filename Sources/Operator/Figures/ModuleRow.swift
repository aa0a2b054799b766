public import StrataCore

/// A module, from `bus/modules`. Figures that the bus doesn't report are 0, empty or nil.
public struct ModuleRow: Sendable {
    /// The states of a module, with the protocol's names.
    public static let states = [
        "absent", "starting", "settingUp", "setUp", "initializing", "ready", "stopping", "restarting", "failed",
    ]
    /// The further state in an app with nodes: its module runs on other nodes, and none of them is
    /// connected.
    public static let unreachable = "unreachable"

    /// An action that the bus refuses for a while, because the module died of it.
    public struct Quarantine: Sendable {
        /// `Interface/action`.
        public let action: String
        /// The end of the quarantine, in milliseconds since 1970.
        public let until: Int64
        /// The number of times that the module died of it.
        public let deaths: Int64
    }

    /// The JSON from the bus.
    public let json: JSON
    /// The process's own resident memory in bytes, anonymous and shared. Nil if there is no such
    /// process on this machine, or the memory was not read.
    public internal(set) var memory: UInt64?

    init(_ json: JSON) { self.json = json }

    /// The module's name.
    public var name: String { text("name") ?? "?" }
    /// The state, which is one of ``states``, or ``unreachable``.
    public var state: String { text("state") ?? "?" }
    /// The bus's own node; for a module that doesn't run there, the nodes on which it does. Empty if the
    /// app has no nodes.
    public var nodes: [String] { json["nodes"]?.array?.compactMap(\.string) ?? [] }
    /// Whether it accepts requests.
    public var isReady: Bool { state == "ready" }
    /// The level's name.
    public var level: String { text("level") ?? "" }
    /// Its priority among the modules of its level.
    public var priority: Int64 { number("priority") }
    /// The condition of its start: `eager`, `manual` …
    public var start: String { text("start") ?? "" }
    /// The reason for its state.
    public var reason: String { text("reason") ?? "" }
    /// Its process; nil if it has none.
    public var pid: Int32? { json["pid"]?.integer.flatMap { $0 > 0 ? Int32(clamping: $0) : nil } }
    /// The time when it entered its state, in milliseconds since 1970.
    public var since: Int64? { json["since"]?.integer }
    /// Whether it answers no ping, and isn't restarted for that.
    public var isHung: Bool { number("hungSince") > 0 }
    /// The number of restarts.
    public var restarts: Int64 { number("restarts") }
    /// The number of requests that it is serving.
    public var open: Int64 { number("open") }
    /// The number of requests that wait until it is ready.
    public var waiting: Int64 { number("waiting") }
    /// The number of bytes on their way to it.
    public var queued: Int64 { number("queued") }

    /// The number of notices that its row's observations didn't get while it wasn't connected.
    public var missed: Int64 { number("missed") }

    /// Whether its row has changes that take effect at its next start.
    public var isPending: Bool { json["pending"]?.bool ?? (json["pending"]?.array?.isEmpty == false) }

    /// The actions that are quarantined now.
    public var quarantined: [Quarantine] {
        (json["setAside"]?.array ?? []).compactMap { entry in
            guard let action = entry["action"]?.string, let until = entry["until"]?.integer else { return nil }
            return Quarantine(action: action, until: until, deaths: entry["deaths"]?.integer ?? 0)
        }
    }

    /// Returns how long its process has been running, in milliseconds; nil if that is unknown.
    /// - Parameter now: milliseconds since 1970.
    public func uptime(at now: Int64) -> Int64? {
        guard pid != nil, let began = json["startedAt"]?.integer ?? since, began > 0 else { return nil }
        return now - began
    }

    private func text(_ member: String) -> String? { json[member]?.string }
    private func number(_ member: String) -> Int64 { json[member]?.integer ?? 0 }
}

extension [ModuleRow] {
    /// Reads the modules from the answer of `bus/modules`.
    public init(_ answer: JSON) { self = (answer["modules"]?.array ?? []).map(ModuleRow.init) }
}
