/// How a module's session ended by itself: what was open at it.
struct ModuleDeath: Equatable, StatePart {
    /// So many actions are named.
    static let mostNamed = 8

    /// In milliseconds since 1970.
    var at: UInt64 = 0
    /// Which of the module's sessions it was, counted from 1.
    var session = 0
    /// Delivered calls without an answer.
    var calls = 0
    /// Their actions, each once, the one that was open longest first; `mostNamed`
    /// at most.
    var actions: [String] = []
    /// Further actions, which are not named.
    var unnamed = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &at)
        try file(2, &session)
        try file(3, &calls)
        try file(4, &actions)
        try file(5, &unnamed)
    }

    /// Whether exactly one action was open, in however many calls.
    var alone: String? { actions.count == 1 && unnamed == 0 ? actions[0] : nil }

    /// For a reason: empty where nothing was open.
    var text: String {
        guard calls > 0 else { return "" }
        let more = unnamed > 0 ? " and \(unnamed) more" : ""
        return "\(calls) \(calls == 1 ? "call was" : "calls were") open: \(actions.joined(separator: ", "))\(more)"
    }
}
