internal import CoreMetrics
internal import Glibc
internal import StrataCore
internal import StrataLoop

extension Module {
    /// Runs the module's process; `@main` calls it. Never returns.
    ///
    /// `--describe` prints the module's hello without connecting to a bus, and `--help` describes
    /// the program. All other arguments are the module's own.
    nonisolated public static func main() {
        ProcessControl.writeOutputByLines()
        ModuleExecutor.shared.claimThread()
        let arguments = Array(CommandLine.arguments.dropFirst())
        let runtime: ModuleRuntime = ModuleActor.assumeIsolated {
            switch arguments.first {
            case "--describe": describe()
            case "--help", "-h":
                print(helpText)
                exit(0)
            default: return start()
            }
        }
        // Held here, because a module that doesn't use its bus holds no reference to it.
        withExtendedLifetime(runtime) { LoopSurroundings.shared.run() }
        fatalError("the module's loop ended by itself")
    }

    private static func describe() -> Never {
        do {
            print(try ModuleRuntime.describe(Self.self))
            exit(0)
        } catch {
            endProcess(1, "can't be described: \(error)")
        }
    }

    private static func start() -> ModuleRuntime {
        guard let configuration = Configuration.fromEnvironment() else {
            endProcess(
                1,
                "is a module of a Strata app, and STRATA_SOCKET, the path of the app's bus, is not set: start the "
                    + "app with `strata up`, or set the variable")
        }
        // Before the module is created, so that metrics among its properties use this factory.
        if MetricsSystem.factory is NOOPMetricsHandler { MetricsSystem.bootstrap(Self.metrics) }
        let runtime = ModuleRuntime(Self.self, configuration) { code, line in endProcess(code, line) }
        runtime.watchProcess(on: LoopSurroundings.shared.loop)
        runtime.start()
        return runtime
    }

    private static func endProcess(_ code: Int32, _ line: String?) -> Never {
        // Not through the C library's `stderr`, which Swift 6 treats as shared mutable state.
        if var line = line.map({ "\(name): \($0)\n" }) {
            line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
        }
        fflush(nil)
        exit(code)
    }

    private static var helpText: String {
        """
        \(name) is a module of a Strata app: `strata up` starts it, with the other modules.
        By hand it needs STRATA_SOCKET, the path of the app's bus.

          --describe   print what it offers and declares, as JSON, and exit
          --help       print this, and exit
        """
    }
}

extension ModuleRuntime {
    /// Ends the module in order at SIGTERM, at SIGINT, and when the lifeline closes. The process keeps the
    /// runtime to its end.
    fileprivate func watchProcess(on loop: Loop) {
        for signal in [SIGTERM, SIGINT] {
            _ = try? SignalWatcher(loop, signal: signal) { self.signalled() }
        }
        watchLifeline(on: loop)
    }

    func watchLifeline(on loop: Loop) {
        guard let lifeline = configuration.lifeline else { return }
        _ = fcntl(lifeline, F_SETFD, FD_CLOEXEC)
        _ = try? OutputReader(
            loop, descriptor: lifeline, onBytes: { _ in }, onEnd: { self.lifelineEnded() })
    }
}
