internal import CoreMetrics
internal import Glibc
internal import Tracing

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
