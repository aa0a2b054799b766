import StrataCore

/// Why one module is as it is: the broker's row of it, and what the launcher knows
/// of its processes. `strata ps --why` shows these.
struct ModuleCause {
    let name: String
    let state: String
    let restarts: Int64
    let reason: String
    /// How its last process ended; nil where none has.
    let end: JSON?
    /// What it does instead of being ready.
    let activity: String?
    /// What it wrote last: before it ended, or, where it isn't ready, until now.
    let lines: [String]
    /// Actions that the broker refuses, because the module died of them.
    let setAside: [JSON]
    let death: JSON?

    /// - Parameters:
    ///   - row: of `bus/modules`.
    ///   - why: `launcher/why`'s answer, where there was one.
    init(_ row: JSON, _ why: JSON?) {
        name = row["name"]?.string ?? "?"
        state = row["state"]?.string ?? "?"
        restarts = max(row["restarts"]?.integer ?? 0, why?["restarts"]?.integer ?? 0)
        reason = why?["reason"]?.string ?? row["reason"]?.string ?? ""
        end = why?["end"]
        activity = why?["activity"]?.string
        let present = why?["lines"]?.array ?? []
        lines = (present.isEmpty ? end?["lines"]?.array ?? [] : present).compactMap(\.string)
        setAside = row["setAside"]?.array ?? []
        death = row["lastDeath"]
    }

    /// Whether there is something to be asked for.
    var isWorthTelling: Bool { state != "ready" || restarts > 0 || !setAside.isEmpty }

    /// For a program.
    var json: JSON {
        var members: [JSON.Member] = [
            .init("name", .string(name)), .init("state", .string(state)), .init("restarts", .integer(restarts)),
            .init("reason", .string(reason)),
        ]
        if let activity { members.append(.init("activity", .string(activity))) }
        members += (end?.object ?? []).filter { $0.name != "lines" }.map {
            .init(Self.names[$0.name] ?? $0.name, $0.value)
        }
        members.append(.init("lines", .array(lines.map { .string($0) })))
        if let death { members.append(.init("lastDeath", death)) }
        if !setAside.isEmpty { members.append(.init("setAside", .array(setAside))) }
        return .object(members)
    }

    private static let names = ["at": "endedAt", "pid": "endedPid"]

    /// For a person: how and when its last process ended.
    func ended(now: Int64) -> String {
        guard let end, let exit = end["exit"]?.string else { return "–" }
        return "\(exit), \(Duration.short(milliseconds: now - (end["at"]?.integer ?? now))) ago"
    }

    /// For a person, in a sentence or two.
    var explanation: String {
        var parts = [reason]
        if let activity { parts.append("it waits \(activity)") }
        if let death, let calls = death["calls"]?.integer, calls > 0 {
            let actions = (death["actions"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
            let unnamed = death["unnamed"]?.integer ?? 0
            parts.append(
                "\(calls) \(calls == 1 ? "call was" : "calls were") open when it died last: \(actions)"
                    + (unnamed > 0 ? " and \(unnamed) more" : ""))
        }
        parts += setAside.compactMap(Self.setAside)
        return parts.filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// `Store/write is set aside for 42s more (3 deaths)`
    static func setAside(_ entry: JSON) -> String? {
        guard let action = entry["action"]?.string, let until = entry["until"]?.integer else { return nil }
        let left = Duration.short(milliseconds: until - Int64(Loop.wallMicroseconds / 1_000))
        return "\(action) is set aside for \(left) more (\(entry["deaths"]?.integer ?? 0) deaths)"
    }
}
