import Glibc
import StrataCore
import StrataLoop

/// The program that shows an app in a browser, and what it needs to know.
public struct WebSettings: Sendable {
    /// The path of `strata-web`.
    public var program: String
    /// The path of the app's manifest.
    public var manifest: String

    public init(program: String, manifest: String) {
        self.program = program
        // The program runs in another folder.
        self.manifest = manifest.hasPrefix("/") ? manifest : "\(SocketChoice.currentFolder)/\(manifest)"
    }
}

/// Keeps `strata-web` running while an app runs. The app doesn't depend on it.
final class WebKeeper {
    /// The delay before the program is started again, in milliseconds.
    private static let delay: UInt64 = 1_000
    /// How long an orderly end may take, in milliseconds.
    private static let grace: UInt64 = 2_000

    private let loop: Loop
    private let console: Console
    private let settings: WebSettings
    private let surroundings: Surroundings
    private var process: ProgramProcess?
    private var timer: LoopTimer?
    /// Called when no process is left after `stop`; nil unless it stops.
    private var onStopped: (() -> Void)?

    init(_ loop: Loop, _ console: Console, _ settings: WebSettings, _ surroundings: Surroundings) {
        (self.loop, self.console, self.settings, self.surroundings) = (loop, console, settings, surroundings)
        timer = LoopTimer(loop) { [unowned self] in timePassed() }
    }

    var pid: Int32? { process?.pid }

    /// Starts the program. It waits for the bus itself.
    func start() {
        guard process == nil, onStopped == nil else { return }
        do throws(SystemError) {
            process = try ProgramProcess(
                loop, [settings.program, "--socket", surroundings.socket, "--manifest", settings.manifest],
                environment: surroundings.inherited, lifeline: surroundings.lifeline, descriptors: [],
                onLine: { [weak self] in self?.console.line(of: "web", $0) },
                onExit: { [unowned self] in self.ended($0) })
        } catch {
            console.say(of: "web", "the page can't be shown: \(Executable.explain(error, settings.program))")
        }
    }

    /// Ends the program in order, or kills it after 2 s.
    /// - Parameter onStopped: Called when there is no process any more, perhaps at once.
    func stop(_ onStopped: @escaping () -> Void) {
        guard let process else {
            timer?.stop()
            return onStopped()
        }
        self.onStopped = onStopped
        process.kill(SIGTERM)
        timer?.start(after: Self.grace)
    }

    func kill() { process?.kill(SIGKILL) }

    func close() {
        timer?.close()
        timer = nil
        process?.close()
        process = nil
    }

    private func timePassed() {
        if process == nil { start() } else { kill() }
    }

    private func ended(_ exit: ChildProcess.Exit) {
        process = nil
        if let onStopped {
            timer?.stop()
            return onStopped()
        }
        console.say(of: "web", "the page ended with \(exit); it is started again, at another address")
        loop.updateTime()
        timer?.start(after: Self.delay)
    }
}
