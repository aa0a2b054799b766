internal import Glibc

/// Why the kit can't try the client at all.
public struct ConformanceError: Error, CustomStringConvertible {
    /// What was tried, and what went wrong.
    public let description: String

    package init(_ description: String) { self.description = description }

    package static func system(_ operation: String, _ code: Int32) -> ConformanceError {
        ConformanceError("can't \(operation): \(String(cString: strerror(code)))")
    }
}
