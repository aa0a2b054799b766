/// Why bytes are not a JSON value, and where.
public struct JSONError: Error, Equatable, CustomStringConvertible {
    /// The offset in bytes of what could not be read.
    public var offset: Int
    /// What was expected or found there.
    public var message: String

    public init(offset: Int, message: String) {
        self.offset = offset
        self.message = message
    }

    public var description: String { "at byte \(offset): \(message)" }
}
