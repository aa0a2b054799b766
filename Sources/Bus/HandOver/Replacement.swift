/// Whether the bus's program may be replaced, and which calls of `bus/handOver` wait for it.
struct Replacement {
    private(set) var isPossible = false
    private(set) var waiting: [CallReference] = []

    mutating func may(_ isPossible: Bool) { self.isPossible = isPossible }

    /// Adds a call, and forgets the calls that have ended.
    mutating func add(_ call: CallReference) {
        waiting.removeAll { !$0.isOpen }
        waiting.append(call)
    }

    mutating func takeWaiting() -> [CallReference] {
        defer { waiting = [] }
        return waiting
    }

    /// Goes on with another program's.
    mutating func resume(_ calls: [CallReference]) { waiting = calls }
}
