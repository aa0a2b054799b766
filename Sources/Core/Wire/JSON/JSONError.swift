/// Why bytes are not a JSON value, and where.
public struct JSONError: Error, Equatable, CustomStringConvertible {
    /// The offset in bytes of what could not be read.
    public var offset: Int
    /// What was expected or found there.
    public var message: String
    /// Whether it has more values than its reader takes; what follows was not read.
    public var hasTooManyValues: Bool

    public init(offset: Int, message: String, hasTooManyValues: Bool = false) {
        self.offset = offset
        self.message = message
        self.hasTooManyValues = hasTooManyValues
    }

    public var description: String { "at byte \(offset): \(message)" }
}
