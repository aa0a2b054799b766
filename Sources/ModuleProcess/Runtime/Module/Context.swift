internal import CoreMetrics
internal import Glibc
public import StrataCore
internal import Tracing

/// The information that a module receives at its start.
public struct Context: Sendable {
    /// The app's name.
    public let app: String
    /// The app's environment, such as `debug` or `release`.
    public let env: String
    /// The module's settings as the bus sent them, without secrets and defaults. A module that
    /// declares its settings asks `settings(as:)`.
    public internal(set) var settings: JSON
    /// The options that the app was started with.
    public let launchOptions: JSON
    /// The module's name, from its row in the manifest.
    public let module: String
    /// The module's level.
    public let level: String
    /// The level's index in the table: 0 for the foundation.
    public let rank: Int
    /// The level table, foundation first.
    public let levels: [String]
    /// The URL schemes that the app opens.
    public let schemes: [String]
    /// What the broker can do beyond the first version of its protocol, such as `rest-urls`.
    public let features: [String]
    /// The process's arguments, without the program's name.
    public let arguments: [String]
    /// The settings that the module declares; nil if it declares none.
    var declaredSettings: (any ModuleSettings)?

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
        features = hello["features"]?.array?.compactMap(\.string) ?? []
        self.arguments = arguments
    }
}

/// The settings of a module's process, from the launcher or whoever else started it.
package struct Configuration: Sendable {
    /// The broker's socket.
    package var socket: String
    /// The row's name; nil if the module was started by hand.
    package var module: String?
    package var token: String?
    /// The reading end of a pipe whose other end the launcher holds.
    package var lifeline: Int32?
    /// The path of the file for spans; nil for none.
    package var spans: String?
    /// Used instead of the process's own: tests run several modules in one process.
    var metrics: (any MetricsFactory)?
    var tracer: (any Tracer)?
    /// The arguments, without the program's name.
    package var arguments: [String] = []

    package init(socket: String) { self.socket = socket }

    /// Reads `STRATA_SOCKET` and the other variables; nil if there is no socket.
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

/// The steps of a module's life, each run once per process. If the broker asks for a step again
/// after a lost connection, the known result answers it.
@ModuleActor
final class LifeCycle {
    enum Step: String, CaseIterable {
        case setUp, initialize, didStart, tearDown
    }

    private enum State {
        /// Not begun, or failed; runs again when asked for.
        case idle
        case running([(Result<Void, any Error>) -> Void])
        case done
    }

    private var states: [Step: State] = [:]

    init() {}

    /// Whether hello may say `resumed`: every step of the start is done.
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

    /// Runs a step. If the step is running, waits for it; if it is done, calls back at once.
    /// - Parameters:
    ///   - start: Begins the work, and passes its result to the given closure.
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
