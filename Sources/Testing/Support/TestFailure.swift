internal import StrataCore

/// What a test expected and did not get; its description says what came
/// instead. Thrown, so that Swift Testing and XCTest both show it.
public struct TestFailure: Error, Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameters:
    ///   - message: what was expected, and what was found.
    ///   - file: where the expectation stands.
    ///   - line: where the test says so.
    public init(_ message: String, file: StaticString, line: UInt) {
        description = "\(file):\(line): \(message)"
    }

    /// A failure of the harness's own making: no line of the test's explains it.
    init(_ message: String) { description = message }

    /// A refusal of the operating system, with errno's text.
    static func system(_ operation: String, _ code: Int32) -> TestFailure {
        TestFailure("\(operation): \(SystemError(code, operation))")
    }
}
