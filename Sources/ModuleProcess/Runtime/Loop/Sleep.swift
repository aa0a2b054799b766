/// Waits on the module's own clock; `Task.sleep` would start threads for it.
/// - Throws: `CancellationError` where the task is cancelled meanwhile.
@ModuleActor
public func sleep(milliseconds: Int) async throws {
    let scope = CallScope.current
    let sleeper = Sleeper(ProcessSurroundings.current)
    try await withTaskCancellationHandler {
        try await withUnsafeThrowingContinuation { sleeper.start($0, UInt64(max(0, milliseconds))) }
    } onCancel: {
        onModuleActor { sleeper.end(.failure(CancellationError())) }
    }
    scope?.resumed()
}

/// One wait: a timer, and who waits for it.
@ModuleActor
private final class Sleeper {
    private var continuation: UnsafeContinuation<Void, any Error>?
    private let surroundings: any Surroundings
    private var alarm: (any Alarm)?
    private var isOver = false

    init(_ surroundings: any Surroundings) { self.surroundings = surroundings }

    func start(_ continuation: UnsafeContinuation<Void, any Error>, _ milliseconds: UInt64) {
        guard !isOver else {
            continuation.resume(throwing: CancellationError())
            return
        }
        self.continuation = continuation
        alarm = surroundings.after(milliseconds) { self.end(.success(())) }
    }

    func end(_ result: Result<Void, any Error>) {
        isOver = true
        alarm?.close()
        alarm = nil
        continuation?.resume(with: result)
        continuation = nil
    }
}

/// Runs something on the actor: now where the caller is on its thread, else
/// soon.
func onModuleActor(_ body: @escaping @ModuleActor () -> Void) {
    if ModuleExecutor.shared.isCurrent {
        ModuleActor.assumeIsolated(body)
    } else {
        Task(executorPreference: ModuleExecutor.shared) { @ModuleActor in body() }
    }
}
