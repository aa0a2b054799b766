internal import StrataCore

/// Runs what blocks or computes long, off the module's loop, and waits for it.
/// At most four threads do that, each made when it is needed.
/// - Parameters:
///   - label: work of one label runs one after another, in the order in which
///     it was given; work without one runs side by side.
///   - work: what is run.
/// - Throws: what the work throws; `overloaded` where 1,024 pieces wait.
///   Cancelling the task doesn't stop work that runs.
@ModuleActor
public func blocking<Result: Sendable>(
    label: String? = nil, _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try Task.checkCancellation()
    let scope = CallScope.current
    let result = try await withUnsafeThrowingContinuation { continuation in
        let taken = BlockingPool.shared.add(label: label) {
            continuation.resume(with: Swift.Result { try work() })
        }
        if !taken {
            continuation.resume(
                throwing: BusError(
                    .overloaded, "\(BlockingPool.mostWaiting) pieces of blocking work wait in this module, its limit"))
        }
    }
    scope?.resumed()
    return result
}
