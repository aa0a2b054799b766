public import StrataCore

/// The reason for a module's state: the broker's row of the module, and the launcher's knowledge of
/// its processes.
public struct ModuleCause: Sendable {
    /// The end of the module's last process.
    public struct End: Sendable {
        /// The way it ended: `SIGSEGV`, `exit code 1`.
        public let exit: String
        /// Milliseconds since 1970; nil if the launcher doesn't report it.
        public let at: Int64?
    }

    /// The calls that the module was serving when it last died.
    public struct Death: Sendable {
        /// The number of calls that it was serving.
        public let calls: Int64
        /// `Interface/action` of the first of these calls.
        public let actions: [String]
        /// The number of calls with other actions.
        public let unnamed: Int64
    }

    /// The broker's row.
    public let row: ModuleRow
    /// The number of restarts: the larger of the broker's count and the launcher's.
    public let restarts: Int64
    /// The reason for its state; the launcher's is more precise, but only the broker knows a hang.
    public let reason: String
    /// What it is doing instead of being ready.
    public let activity: String?
    /// The last lines that it wrote: before it ended or, if it isn't ready, until now.
    public let lines: [String]
    private let end: JSON?

    /// - Parameters:
    ///   - row: the broker's row.
    ///   - why: the answer of `launcher/why`, if there was one.
    public init(_ row: ModuleRow, _ why: JSON?) {
        self.row = row
        restarts = max(row.restarts, why?["restarts"]?.integer ?? 0)
        reason = row.isHung ? row.reason : why?["reason"]?.string ?? row.reason
        end = why?["end"]
        activity = why?["activity"]?.string
        let present = why?["lines"]?.array ?? []
        lines = (present.isEmpty ? end?["lines"]?.array ?? [] : present).compactMap(\.string)
    }

    /// Whether there is anything worth reporting.
    public var isWorthTelling: Bool { !row.isReady || row.isHung || restarts > 0 || !row.quarantined.isEmpty }

    /// The end of its last process; nil if none has ended.
    public var lastEnd: End? { end?["exit"]?.string.map { End(exit: $0, at: end?["at"]?.integer) } }

    /// The calls that its last death interrupted; nil if it interrupted none.
    public var lastDeath: Death? {
        guard let death = row.json["lastDeath"], let calls = death["calls"]?.integer, calls > 0 else { return nil }
        return Death(
            calls: calls, actions: (death["actions"]?.array ?? []).compactMap(\.string),
            unnamed: death["unnamed"]?.integer ?? 0)
    }

    /// The cause as JSON for a program, with the members of `strata ps --why --json`.
    public var json: JSON {
        var members: [JSON.Member] = [
            .init("name", .string(row.name)), .init("state", .string(row.state)),
            .init("restarts", .integer(restarts)), .init("reason", .string(reason)),
        ]
        if let activity { members.append(.init("activity", .string(activity))) }
        members += (end?.object ?? []).filter { $0.name != "lines" }.map {
            .init(Self.names[$0.name] ?? $0.name, $0.value)
        }
        members.append(.init("lines", .array(lines.map { .string($0) })))
        for name in ["lastDeath", "setAside", "hungSince", "missed"] {
            if let value = row.json[name], value.array?.isEmpty != true { members.append(.init(name, value)) }
        }
        return .object(members)
    }

    private static let names = ["at": "endedAt", "pid": "endedPid"]
}
