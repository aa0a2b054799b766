import Strata

/// The calls that wait for somebody to sign in, by their session's token.
@ModuleActor
final class HeldCalls {
    private var held: [String: [Int: AsyncStream<Void>.Continuation]] = [:]
    private var last = 0
    private(set) var count = 0

    init() {}

    /// Waits until the session is released, or the task is cancelled.
    func wait(for token: String) async {
        let (released, call) = AsyncStream<Void>.makeStream()
        last += 1
        let number = last
        held[token, default: [:]][number] = call
        count += 1
        for await _ in released {}
        count -= 1
        held[token]?[number] = nil
        if held[token]?.isEmpty == true { held[token] = nil }
    }

    /// Lets the calls of a session go on: what became of it is theirs to look up.
    func release(_ token: String) { held[token]?.values.forEach { $0.finish() } }
}
