internal import StrataCore

/// What a test expected and did not get. Its description says what came instead. It is thrown, so
/// Swift Testing and XCTest both show it.
public struct TestFailure: Error, Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameters:
    ///   - message: what was expected, and what was found.
    ///   - file: the file of the expectation.
    ///   - line: the line of the expectation.
    public init(_ message: String, file: StaticString, line: UInt) {
        description = "\(file):\(line): \(message)"
    }

    /// A failure in the harness itself, which no line of the test explains.
    init(_ message: String) { description = message }

    /// A failed system call, with errno's text.
    static func system(_ operation: String, _ code: Int32) -> TestFailure {
        TestFailure("\(operation): \(SystemError(code, operation))")
    }
}
