public import StrataCore

/// Why one module is as it is: the broker's row of it, and what the launcher knows
/// of its processes.
public struct ModuleCause: Sendable {
    /// How its last process ended.
    public struct End: Sendable {
        /// `SIGSEGV`, `exit code 1`
        public let exit: String
        /// Milliseconds since 1970; nil where the launcher doesn't say.
        public let at: Int64?
    }

    /// What it was doing when it died last.
    public struct Death: Sendable {
        /// Calls that it was serving.
        public let calls: Int64
        /// `Interface/action` of the first of them.
        public let actions: [String]
        /// How many have other actions.
        public let unnamed: Int64
    }

    /// What the broker knows.
    public let row: ModuleRow
    /// How often it was started again: the larger of the broker's count and the launcher's.
    public let restarts: Int64
    /// Why it is in its state; the launcher knows more.
    public let reason: String
    /// What it does instead of being ready.
    public let activity: String?
    /// What it wrote last: before it ended, or, where it isn't ready, until now.
    public let lines: [String]
    private let end: JSON?

    /// - Parameters:
    ///   - row: the broker's.
    ///   - why: `launcher/why`'s answer, where there was one.
    public init(_ row: ModuleRow, _ why: JSON?) {
        self.row = row
        restarts = max(row.restarts, why?["restarts"]?.integer ?? 0)
        reason = why?["reason"]?.string ?? row.reason
        end = why?["end"]
        activity = why?["activity"]?.string
        let present = why?["lines"]?.array ?? []
        lines = (present.isEmpty ? end?["lines"]?.array ?? [] : present).compactMap(\.string)
    }

    /// Whether there is something to be asked for.
    public var isWorthTelling: Bool { !row.isReady || restarts > 0 || !row.quarantined.isEmpty }

    /// Nil where no process of it has ended.
    public var lastEnd: End? { end?["exit"]?.string.map { End(exit: $0, at: end?["at"]?.integer) } }

    /// Nil where none of its deaths interrupted a call.
    public var lastDeath: Death? {
        guard let death = row.json["lastDeath"], let calls = death["calls"]?.integer, calls > 0 else { return nil }
        return Death(
            calls: calls, actions: (death["actions"]?.array ?? []).compactMap(\.string),
            unnamed: death["unnamed"]?.integer ?? 0)
    }

    /// For a program, in the members that `strata ps --why --json` has.
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
        for name in ["lastDeath", "setAside"] {
            if let value = row.json[name], value.array?.isEmpty != true { members.append(.init(name, value)) }
        }
        return .object(members)
    }

    private static let names = ["at": "endedAt", "pid": "endedPid"]
}
