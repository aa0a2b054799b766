import StrataCore

/// One event on its way to those that declared it, until all have answered.
final class Emission {
    enum Policy: String { case notify, all, any }

    let name: String
    let params: [UInt8]
    /// The emit's, as it stood in its header; empty for none, as in the broker's own.
    let trace: [UInt8]
    let meta: [UInt8]
    let policy: Policy
    /// For each answer, in milliseconds.
    let deadline: UInt64
    /// Who emitted it waits for its result; nil for the broker's own events.
    let request: CallReference?
    /// In start order.
    let listeners: [ModuleRecord]
    /// By listener; nil where none has come.
    var answers: [JSON?]

    init(
        _ name: String, _ params: [UInt8], trace: [UInt8] = [], meta: [UInt8] = [], _ policy: Policy,
        deadline: UInt64, request: CallReference?, listeners: [ModuleRecord]
    ) {
        self.name = name
        self.params = params
        self.trace = trace
        self.meta = meta
        self.policy = policy
        self.deadline = deadline
        self.request = request
        self.listeners = listeners
        answers = Array(repeating: nil, count: listeners.count)
    }

    /// Whether somebody still wants its result.
    var isWanted: Bool { request?.isOpen ?? true }

    /// What the emitter gets, once it is known.
    var result: JSON? {
        let there = answers.compactMap(\.self)
        let answer: Bool
        switch policy {
        case .any:
            answer = there.last?["answer"] == .bool(true)
            guard answer || there.count == listeners.count else { return nil }
        case .notify, .all:
            guard there.count == listeners.count else { return nil }
            answer = policy == .notify || there.allSatisfy { $0["answer"] == .bool(true) }
        }
        return .object([.init("answer", .bool(answer)), .init("answers", .array(there))])
    }
}
