import Glibc
import StrataCore

/// The app's own events: what the launcher learns before its modules do.
extension Launcher {
    /// How long a module may take over an event, in milliseconds.
    private static let patience: UInt64 = 5_000

    /// Emits `app.NAME`; without a bus nobody hears of it.
    /// - Parameter then: called when all who declared it have answered, or can't.
    func emit(
        _ name: String, _ params: JSON = .object([]), within deadline: UInt64 = Launcher.patience,
        then: @escaping () -> Void = {}
    ) {
        link.emit("app.\(name)", params, deadline: deadline) { [weak self] answer in
            // One that goes down with its bus is no news.
            if case .failure(let error) = answer, error.code != .died, error.code != .unavailable {
                self?.console.say("app.\(name) could not be emitted: \(error)")
            }
            then()
        }
    }

    // MARK: Memory

    /// Where that can't be, the app goes without.
    func watchPressure() {
        guard let source = PressureSource(settings.environment) else { return }
        do {
            pressureWatcher = try PressureWatcher(loop, path: source.path, trigger: source.trigger) {
                [unowned self] event in
                switch event {
                case .pressure: self.pressureCame(source)
                case .ended: console.say("\(source.path) has ended: nobody emits app.memoryPressure any more")
                }
            }
        } catch {
            console.say("nobody emits app.memoryPressure: \(error)")
        }
    }

    private func pressureCame(_ source: PressureSource) {
        guard case .running = phase, link.isUp, pressure.came(at: loop.now) else { return }
        let params = MemoryPressure.params(source.level, pressureWatcher?.text() ?? "")
        emit("memoryPressure", params) { [weak self] in self?.pressure.answered() }
    }

    // MARK: Suspending

    /// SIGTSTP: ctrl-Z, or whoever suspends a service.
    func suspendBySignal() { perform(suspension.ordered()) }

    /// SIGCONT.
    func continueBySignal() { perform(suspension.continued()) }

    private func perform(_ action: Suspension.Action) {
        guard case .running = phase else { return }
        switch action {
        case .nothing: break
        case .suspend(let number):
            console.say("SIGTSTP: the app is suspended")
            emit("suspend") { [weak self] in
                guard let self else { return }
                perform(suspension.answered(number))
            }
        case .halt:
            // The shell behind a terminal waits for that; a service goes on.
            if hasTerminal { raise(SIGSTOP) }
        case .resume:
            console.say("SIGCONT: the app goes on")
            emit("resume")
        }
    }
}
