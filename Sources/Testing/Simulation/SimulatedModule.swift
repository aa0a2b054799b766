internal import Strata
internal import StrataBus

/// A module in a simulation, which runs its own code without a process.
///
/// Global variables and files keep their contents when it ends.
///
/// `@unchecked Sendable` because only the simulation's thread uses it.
public final class SimulatedModule: @unchecked Sendable {
    /// The name of its row.
    public let name: String
    /// How it has ended; nil while it runs. A test that reads this expects the end, so the end is
    /// no failure.
    public var end: ChildProgram.End? {
        isEndSeen = true
        return ending
    }
    /// The line that its process would have written to standard error at its end.
    public private(set) var lastWords: String?

    let pid: Int32
    let token: String
    private(set) var ending: ChildProgram.End?
    /// Whether the test asked for the end, or has read it.
    private(set) var isEndSeen = false
    private let bus: SimulatedBus
    private let surroundings: SimulatedSurroundings
    private var runtime: ModuleRuntime!  // because its closure captures this module

    @ModuleActor
    init<M: Module>(
        _ type: M.Type, _ name: String, pid: Int32, token: String, _ arguments: [String], on bus: SimulatedBus
    ) {
        self.name = name
        self.pid = pid
        self.token = token
        self.bus = bus
        surroundings = SimulatedSurroundings(bus, name, pid: pid)
        var configuration = Configuration(socket: "the simulation's bus")
        configuration.module = name
        configuration.token = token
        configuration.arguments = arguments
        runtime = ModuleRuntime(type, configuration, in: surroundings) {
            [unowned self] code, line in
            hasEnded(.exit(code), line)
        }
        bus.broker.processes.start(pid)
        runtime.start()
    }

    /// Ends it at once, as `SIGKILL` ends a process.
    public func kill() {
        guard ending == nil else { return }
        hasEnded(.signal(9), nil)
        isEndSeen = true
        ModuleActor.assumeIsolated {
            surroundings.cut()
            runtime.end(0, nil)
        }
    }

    /// Ends it as `SIGTERM` ends a process: in order the first time, and at once the second time.
    public func terminate() {
        isEndSeen = true
        ModuleActor.assumeIsolated { runtime.signalled() }
    }

    /// Its handlers that have not returned, as logs name them.
    var unfinished: [String] {
        guard ending == nil else { return [] }
        return ModuleActor.assumeIsolated { runtime.unfinished }
    }

    private func hasEnded(_ end: ChildProgram.End, _ line: String?) {
        guard ending == nil else { return }
        ending = end
        lastWords = line
        bus.broker.processes.end(pid)
        bus.story.tell("# \(name) has ended with \(end)\(line.map { ": \($0)" } ?? "")")
    }
}
