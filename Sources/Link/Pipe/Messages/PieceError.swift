/// Why a message isn't a piece.
public enum PieceError: Error, Equatable, Sendable {
    case tooShort(Int)
    case tooLong(Int)
    case version(UInt8)
    case flags(UInt8)
    /// A probe's number without a question or an answer, a question or an answer without a
    /// number, or both in one piece.
    case probe(UInt16)
    /// A place that no stream reaches.
    case place
}
