import Glibc
import StrataCore
import StrataLoop
import StrataOperator

/// The app's own events, such as memory pressure and suspension, which the launcher notices before
/// its modules do. It exists while the app runs.
final class AppEvents {
    /// How long a module may take to answer an event, in milliseconds.
    static let patience: UInt64 = 5_000

    private let loop: Loop
    private let link: BusLink
    private let console: Console
    /// Whether the launcher halts itself when the app is suspended. The shell behind a terminal
    /// waits for that; a service must continue.
    private let mayHalt: Bool
    private var suspension = Suspension()
    private var pressure = MemoryPressure()
    private var watcher: PressureWatcher?

    /// Creates the app's events.
    /// - Parameter source: The file that reports memory pressure; nil if there is none. If the file
    ///   can't be watched, the app runs without memory pressure events.
    init(_ loop: Loop, _ link: BusLink, _ console: Console, _ source: PressureSource?, mayHalt: Bool) {
        self.loop = loop
        self.link = link
        self.console = console
        self.mayHalt = mayHalt
        if let source { watch(source) }
    }

    /// Emits `app.NAME`; without a bus, no module receives it.
    /// - Parameter then: Called when all modules that declared the event have answered, or can't.
    func emit(
        _ name: String, _ params: JSON = .object([]), within deadline: UInt64 = AppEvents.patience,
        then: @escaping () -> Void = {}
    ) {
        link.emit("app.\(name)", params, deadline: deadline) { [console] answer in
            // A bus that goes away meanwhile is reported elsewhere.
            if case .failure(let error) = answer, error.code != .died, error.code != .unavailable {
                console.say("app.\(name) could not be emitted: \(error)")
            }
            then()
        }
    }

    /// Stops watching, because the app ends.
    func close() {
        watcher?.close()
        watcher = nil
    }

    // MARK: Memory

    private func watch(_ source: PressureSource) {
        do {
            watcher = try PressureWatcher(loop, path: source.path, trigger: source.trigger) { [unowned self] event in
                switch event {
                case .pressure: pressureCame(source)
                case .ended: console.say("\(source.path) has ended: app.memoryPressure is no longer emitted")
                }
            }
        } catch {
            console.say("app.memoryPressure is not emitted: \(error)")
        }
    }

    private func pressureCame(_ source: PressureSource) {
        guard link.isUp, pressure.came(at: loop.now) else { return }
        let params = MemoryPressure.params(source.level, watcher?.text() ?? "")
        emit("memoryPressure", params) { [weak self] in self?.pressure.answered() }
    }

    // MARK: Suspending

    /// Handles SIGTSTP, from ctrl-Z or from a service manager.
    func suspend() { perform(suspension.ordered()) }

    /// Handles SIGCONT.
    func goOn() { perform(suspension.continued()) }

    private func perform(_ action: Suspension.Action) {
        switch action {
        case .nothing: break
        case .suspend(let number):
            console.say("SIGTSTP: the app is suspended")
            emit("suspend") { [weak self] in
                guard let self else { return }
                perform(suspension.answered(number))
            }
        case .halt:
            if mayHalt { raise(SIGSTOP) }
        case .resume:
            console.say("SIGCONT: the app is resumed")
            emit("resume")
        }
    }
}
