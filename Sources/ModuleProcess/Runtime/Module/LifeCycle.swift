/// The steps of a module's life, each run once per process. One that the broker
/// asks for again, after a lost connection, is answered from what is known.
@ModuleActor
final class LifeCycle {
    enum Step: String, CaseIterable {
        case setUp, initialize, didStart, tearDown
    }

    private enum State {
        /// Never begun, or failed: then it runs again where it is asked for.
        case idle
        case running([(Result<Void, any Error>) -> Void])
        case done
    }

    private var states: [Step: State] = [:]

    init() {}

    /// Whether hello may say `resumed`: all of the start is done.
    var hasStarted: Bool { isDone(.setUp) && isDone(.initialize) && isDone(.didStart) }

    /// Whether there is something to tear down.
    var hasBegun: Bool { hasBegun(.setUp) }

    func hasBegun(_ step: Step) -> Bool {
        if case .idle = states[step, default: .idle] { return false }
        return true
    }

    func isDone(_ step: Step) -> Bool {
        if case .done = states[step, default: .idle] { return true }
        return false
    }

    /// Runs a step, or waits for it, or says at once that it is done.
    /// - Parameters:
    ///   - start: begins the work, and says its end to what it is given.
    func run(
        _ step: Step, start: (_ finish: @escaping @ModuleActor (Result<Void, any Error>) -> Void) -> Void,
        then: @escaping (Result<Void, any Error>) -> Void
    ) {
        switch states[step, default: .idle] {
        case .done: then(.success(()))
        case .running(let waiting): states[step] = .running(waiting + [then])
        case .idle:
            states[step] = .running([then])
            start { self.finish(step, $0) }
        }
    }

    private func finish(_ step: Step, _ result: Result<Void, any Error>) {
        guard case .running(let waiting) = states[step, default: .idle] else { return }
        if case .success = result { states[step] = .done } else { states[step] = .idle }
        for then in waiting { then(result) }
    }
}
