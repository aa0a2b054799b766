/// One difference between two contracts.
public struct ContractChange: Sendable, Equatable, CustomStringConvertible {
    /// Whether those who know the old contract are harmed.
    public enum Kind: String, Sendable {
        case breaking, compatible
    }

    public let kind: Kind
    /// The place: `$.actions.search.params.limit`. In a schema the steps are those of the values:
    /// members, `[*]` for the elements of an array, and `.*` for the values of a map.
    public let path: String
    /// What the old contract says there, in words.
    public let old: String
    /// What the new contract says there, in words.
    public let new: String

    public var description: String { "\(kind.rawValue): \(path): \(old) → \(new)" }
}
