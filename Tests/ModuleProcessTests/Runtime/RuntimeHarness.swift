import Glibc
import StrataCore
import Testing

@testable import Strata

/// A module under test, its fake broker, and how the module ended.
@ModuleActor
final class Harness<M: Module> {
    let broker: FakeBroker
    let runtime: ModuleRuntime
    /// The connection on which the module said hello.
    var peer: FakePeer!
    private(set) var exit: (code: Int32, line: String?)?
    private var exitWaiter: CheckedContinuation<Void, Never>?

    var module: M { runtime.module as! M }  // because the runtime made it of this type

    init(_ type: M.Type, configure: (inout Configuration) -> Void = { _ in }) throws {
        broker = try FakeBroker()
        var configuration = Configuration(socket: broker.path)
        configure(&configuration)
        var onExit: (Int32, String?) -> Void = { _, _ in }
        runtime = ModuleRuntime(type, configuration) { onExit($0, $1) }
        onExit = { [unowned self] code, line in
            self.exit = (code, line)
            self.exitWaiter?.resume()
            self.exitWaiter = nil
        }
    }

    /// Starts the module, up to hello's answer.
    func start() async throws {
        runtime.start()
        peer = try await broker.peer()
        try await peer.welcome()
    }

    /// Runs the whole start of the life cycle.
    func startFully() async throws {
        try await start()
        for step in ["setUp", "initialize", "didStart"] {
            #expect(try await peer.call("module/\(step)", ["env": "debug"]).kind == "reply")
        }
    }

    func ended() async {
        await untilCancelled {
            // Checked in the same step that begins to wait, because an `await` lets other tasks
            // run.
            if exit == nil { exitWaiter = $0 } else { $0.resume() }
        } giveUp: {
            self.exitWaiter?.resume()
            self.exitWaiter = nil
        }
    }
}

/// Waits in a test until `wait`'s continuation is resumed, or the test's time is over. A test
/// that waited longer would keep the whole run from ending.
/// - Parameter giveUp: resumes the continuation if it still waits.
@ModuleActor
func untilCancelled<Result: Sendable>(
    _ wait: (CheckedContinuation<Result, Never>) -> Void, giveUp: @escaping @ModuleActor @Sendable () -> Void
) async -> Result {
    await withTaskCancellationHandler {
        await withCheckedContinuation {
            wait($0)
            if Task.isCancelled { giveUp() }
        }
    } onCancel: {
        onModuleActor { giveUp() }
    }
}

/// Runs a test on the module's loop, which gets a thread of its own. It needs none of the threads
/// that tests share, which other tests may hold for long.
func withModule<M: Module>(
    _ type: M.Type, configure: @Sendable (inout Configuration) -> Void = { _ in },
    _ test: @ModuleActor (Harness<M>) async throws -> Void
) async throws {
    TestLoop.start
    try await withTaskExecutorPreference(ModuleExecutor.shared) { try await onLoop(type, configure, test) }
}

@ModuleActor
private func onLoop<M: Module>(
    _ type: M.Type, _ configure: @Sendable (inout Configuration) -> Void,
    _ test: @ModuleActor (Harness<M>) async throws -> Void
) async throws {
    let harness = try Harness(type, configure: configure)
    defer {
        harness.runtime.end(0, nil)
        harness.broker.close()
    }
    try await test(harness)
}

enum TestLoop {
    static let start: Void = {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { _ in
                LoopSurroundings.shared.run()
                return nil
            }, nil)
    }()
}
