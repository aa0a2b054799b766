/// Why something can't be written down; a whole sentence.
public struct RecordError: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}
