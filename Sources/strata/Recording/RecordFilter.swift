import StrataCore

/// The frames that are recorded, and what is left out of them.
struct RecordFilter {
    /// The modules whose frames are recorded; empty for all.
    private let names: Set<String>
    /// The open calls from or to these modules: the broker's errors for them are frames from `bus`.
    private var calls: Set<Int64> = []
    /// The missed frames that no recorded packet has told yet.
    private var missed: Int64 = 0

    init(_ names: [String]) { self.names = Set(names) }

    /// Returns what is recorded of a frame; nil if it isn't recorded.
    mutating func packet(_ frame: JSON, _ bytes: [UInt8]) -> [UInt8]? {
        let missed = missed + max(0, frame["missed"]?.integer ?? 0)
        guard isWanted(frame) else {
            self.missed = missed
            return nil
        }
        self.missed = 0
        // A vouch has a token, and so has what the launcher lends.
        let isSecret =
            frame["to"]?.string == "bus/vouch" || frame["from"]?.string == "launcher" && frame["body"]?["token"] != nil
        guard isSecret || missed != frame["missed"]?.integer ?? 0, var members = frame.object else { return bytes }
        members.removeAll { $0.name == "missed" }
        if missed > 0 { members.append(.init("missed", .integer(missed))) }
        guard isSecret else { return JSON.object(members).encoded() }
        members.removeAll { $0.name == "start" }
        return JSON.object(
            members.map { ["body", "omitted"].contains($0.name) ? .init("omitted", "secret") : $0 }
        ).encoded()
    }

    private mutating func isWanted(_ frame: JSON) -> Bool {
        guard !names.isEmpty else { return true }
        let id = frame["id"]?.integer
        guard isAboutModules(frame, id) else { return false }
        if let id {
            let isOver = frame["kind"]?.string != "call" && frame["more"]?.bool != true
            if isOver { calls.remove(id) } else { calls.insert(id) }
        }
        return true
    }

    private func isAboutModules(_ frame: JSON, _ id: Int64?) -> Bool {
        func isOne(_ name: JSON?) -> Bool { name?.string.map(names.contains) ?? false }
        return isOne(frame["from"]) || isOne(frame["to"]) || isOne(frame["callee"])
            || id.map(calls.contains) == true
            // The launcher says what became of their processes.
            || (frame["callee"]?.string == "bus" && isOne(frame["body"]?["module"]))
            // It says who creates an instance, perhaps one of theirs.
            || frame["to"]?.string == "bus/create"
    }
}
