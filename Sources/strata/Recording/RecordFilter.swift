import StrataCore

/// The frames that are recorded, and what is left out of them.
struct RecordFilter {
    /// The modules whose frames are recorded; empty for all.
    private let names: Set<String>
    /// The open calls from or to these modules: the broker's errors for them are frames from `bus`.
    private var calls: Set<Int64> = []
    /// The open calls of `launcher/lend`, whose answer has a row's variables and a token.
    private var lent: Set<Int64> = []

    init(_ names: [String]) { self.names = Set(names) }

    /// Returns what is recorded of a frame; nil if it isn't recorded.
    mutating func packet(_ frame: JSON, _ bytes: [UInt8]) -> [UInt8]? {
        let id = frame["id"]?.integer
        let isOver = frame["kind"]?.string != "call" && frame["more"]?.bool != true
        let isSecret = frame["to"]?.string == "bus/vouch" || id.map(lent.contains) == true
        if let id {
            if frame["to"]?.string == "launcher/lend" { lent.insert(id) } else if isOver { lent.remove(id) }
        }
        let isWanted = names.isEmpty || isAboutModules(frame, id)
        if let id, isWanted, !names.isEmpty {
            if isOver { calls.remove(id) } else { calls.insert(id) }
        }
        guard isWanted else { return nil }
        guard isSecret, let members = frame.object else { return bytes }
        return JSON.object(members.map { $0.name == "body" ? .init("omitted", "secret") : $0 }).encoded()
    }

    private func isAboutModules(_ frame: JSON, _ id: Int64?) -> Bool {
        func isOne(_ name: JSON?) -> Bool { name?.string.map(names.contains) ?? false }
        return isOne(frame["from"]) || isOne(frame["to"]) || isOne(frame["callee"])
            || id.map(calls.contains) == true
            // What the launcher says of their processes, and who asks for their instances.
            || (frame["callee"]?.string == "bus" && isOne(frame["body"]?["module"]))
            || frame["to"]?.string == "bus/create"
    }
}
