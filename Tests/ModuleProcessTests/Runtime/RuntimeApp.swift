import Glibc
import StrataBus
import StrataCore
import StrataLoop
import Testing

@testable import Strata

/// Modules and the real broker, all on one loop, under a manifest.
@ModuleActor
final class RuntimeApp {
    let broker: Broker
    private var runtimes: [ModuleRuntime] = []
    private var exits: [Int32] = []
    private var shutDown: LoopTimer?
    private var exited: CheckedContinuation<Void, Never>?

    private static var count = 0

    /// Starts the modules, runs a test when all are ready, and ends them.
    nonisolated static func run(
        _ manifest: String, _ modules: [any Module.Type], _ test: @ModuleActor (RuntimeApp) async throws -> Void
    ) async throws {
        // First of all, because the loop's thread is the actor's.
        TestLoop.start
        try await withTaskExecutorPreference(ModuleExecutor.shared) { try await runOnLoop(manifest, modules, test) }
    }

    private static func runOnLoop(
        _ manifest: String, _ modules: [any Module.Type], _ test: @ModuleActor (RuntimeApp) async throws -> Void
    ) async throws {
        let app = try RuntimeApp(manifest, modules)
        do {
            try await app.start()
            try await test(app)
        } catch {
            await app.end()
            throw error
        }
        await app.end()
        #expect(app.exits == modules.map { _ in 0 })
    }

    private init(_ manifest: String, _ modules: [any Module.Type]) throws {
        Self.count += 1
        let path = "/tmp/strata-app-\(getpid())-\(Self.count).sock"
        let table = try TemporaryManifest.load(Array(manifest.utf8)).table
        broker = try Broker(LoopSurroundings.shared.loop, table: table, path: path)
        for module in modules { runtimes.append(runtime(module, path)) }
    }

    private func runtime<M: Module>(_ type: M.Type, _ path: String) -> ModuleRuntime {
        ModuleRuntime(type, Configuration(socket: path)) { [unowned self] code, _ in
            self.exits.append(code)
            if self.exits.count == self.runtimes.count { self.stopWaiting() }
        }
    }

    private func start() async throws {
        for runtime in runtimes { runtime.start() }
        for runtime in runtimes {
            while !runtime.lifeCycle.hasStarted { _ = try await Bus(runtime).call("bus/ping") }
        }
    }

    private func end() async {
        await withCheckedContinuation { ended in
            // From the loop, as a signal would do it. Frames that the broker queues during a job
            // of the actor are written only in the loop's next round.
            let timer = LoopTimer(LoopSurroundings.shared.loop) { [broker] in broker.shutDown { ended.resume() } }
            timer.start(after: 0)
            shutDown = timer
        }
        shutDown?.close()
        await untilCancelled {
            // Checked in the same step that begins to wait, because an `await` lets other tasks
            // run.
            if exits.count < runtimes.count { exited = $0 } else { $0.resume() }
        } giveUp: {
            self.stopWaiting()
        }
    }

    private func stopWaiting() {
        exited?.resume()
        exited = nil
    }

    /// Returns the runtime of a module.
    func runtime<M: Module>(of type: M.Type) -> ModuleRuntime {
        runtimes.first { $0.module is M }!  // because the app runs this module
    }

    func bus<M: Module>(of type: M.Type) -> Bus { Bus(runtime(of: type)) }

    func module<M: Module>(_ type: M.Type) -> M { runtime(of: type).module as! M }  // because it was made as this
}
