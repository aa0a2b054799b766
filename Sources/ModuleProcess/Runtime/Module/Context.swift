internal import CoreMetrics
internal import Glibc
public import StrataCore
internal import Tracing

/// What a module is told at its start.
public struct Context: Sendable {
    /// The app's name.
    public let app: String
    /// The app's environment, such as `debug` or `release`.
    public let env: String
    /// The app's settings, from its manifest.
    public let settings: JSON
    /// What the app was started with.
    public let launchOptions: JSON
    /// The module's name, as its row has it.
    public let module: String
    /// Its level.
    public let level: String
    /// That level's place in the table: 0 for the foundation.
    public let rank: Int
    /// The level table, foundation first.
    public let levels: [String]
    /// The URL schemes that the app opens.
    public let schemes: [String]
    /// The process's arguments, without the program's name.
    public let arguments: [String]

    init(hello: JSON, setUp: JSON, arguments: [String]) {
        app = hello["app"]?.string ?? ""
        env = setUp["env"]?.string ?? hello["env"]?.string ?? ""
        settings = setUp["settings"] ?? hello["settings"] ?? [:]
        launchOptions = setUp["launchOptions"] ?? hello["launchOptions"] ?? [:]
        module = hello["module"]?.string ?? ""
        level = hello["level"]?.string ?? ""
        rank = Int(hello["rank"]?.integer ?? 0)
        levels = hello["levels"]?.array?.compactMap(\.string) ?? []
        schemes = hello["schemes"]?.array?.compactMap(\.string) ?? []
        self.arguments = arguments
    }
}

/// What a module's process is told by who started it.
package struct Configuration: Sendable {
    /// The broker's socket.
    package var socket: String
    /// The row's name; nil where the module was started by hand.
    package var module: String?
    package var token: String?
    /// A pipe's reading end that the launcher holds the other end of.
    package var lifeline: Int32?
    /// Where spans are written; nil for nowhere.
    package var spans: String?
    /// Told instead of those that the process has: tests have several modules in one.
    var metrics: (any MetricsFactory)?
    var tracer: (any Tracer)?
    /// Without the program's name.
    package var arguments: [String] = []

    package init(socket: String) { self.socket = socket }

    /// Reads `STRATA_SOCKET` and the others; nil where there is no socket.
    static func fromEnvironment() -> Configuration? {
        guard let socket = variable("STRATA_SOCKET") else { return nil }
        var configuration = Configuration(socket: socket)
        configuration.module = variable("STRATA_MODULE")
        configuration.token = variable("STRATA_TOKEN")
        configuration.lifeline = variable("STRATA_LIFELINE").flatMap { Int32($0) }
        configuration.spans = variable("STRATA_SPANS")
        configuration.arguments = Array(CommandLine.arguments.dropFirst())
        return configuration
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

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
