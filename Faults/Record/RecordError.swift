/// The reason why something can't be logged, as a whole sentence.
public struct RecordError: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}
