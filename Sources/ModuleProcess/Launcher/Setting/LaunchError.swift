/// Why an app can't be started, and the exit code that says so.
public struct LaunchError: Error, Sendable, Equatable, CustomStringConvertible {
    /// 2 for bad usage, a bad manifest or an unusable path; 3 where a bus is
    /// there already, or none is; 1 for anything else.
    public var code: Int32
    /// What was asked, what was found, and what to do.
    public var message: String

    /// See ``code``.
    public init(_ code: Int32, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
