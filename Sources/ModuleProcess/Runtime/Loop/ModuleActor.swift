/// The actor on the one thread that a module's loop runs on. All of a module's
/// handlers, and all of its state that isn't said to be elsewhere, are on it.
///
/// State needs no lock: only at an `await` does anything else run.
@globalActor
public actor ModuleActor {
    /// The one that there is.
    public static let shared = ModuleActor()

    private init() {}

    /// The module's loop, as the language asks for it.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        ModuleExecutor.shared.asUnownedSerialExecutor()
    }

    /// Runs what must be on the actor, from code that is on its thread and
    /// that the compiler doesn't know to be; traps elsewhere.
    nonisolated static func assumeIsolated<Result: Sendable>(
        _ body: @ModuleActor () throws -> Result
    ) rethrows -> Result {
        precondition(ModuleExecutor.shared.isCurrent, "this must run on the module's loop thread")
        // As `MainActor.assumeIsolated` does: the isolation that is cast away
        // is the one just checked.
        return try withoutActuallyEscaping(body) { body in
            try unsafeBitCast(body, to: (() throws -> Result).self)()
        }
    }
}
