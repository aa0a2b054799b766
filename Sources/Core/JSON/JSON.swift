/// A JSON value, for control traffic: hello, the broker's own actions, the
/// table. Bodies that pass through the broker are never made into one.
public enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number written without fraction or exponent that fits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    /// In the order written; keys are unique.
    case object([Member])

    public struct Member: Sendable, Equatable {
        public var name: String
        public var value: JSON
        public init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }
}
