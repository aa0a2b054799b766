internal import StrataContracts

/// The reason why a type has no contract that can be derived.
public struct DerivingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The Swift type: `Shop.Item`.
    public var type: String
    /// Where it stands in the contract: `$.actions.search.params.items[]`.
    public var place: String
    /// What was found.
    public var reason: String
    /// What to do.
    public var advice: String

    init(_ type: any Any.Type, at place: ValuePath, _ reason: String, advice: String? = nil) {
        let name = TypeName(type)
        self.type = name.shown
        self.place = place.description
        self.reason = reason
        self.advice =
            advice
            ?? (name.isOfSwift
                ? "use a type of your own that conforms to ContractDescribing"
                : "conform \(name.shown) to ContractDescribing, and say its schema there")
    }

    public var description: String { "\(type) (\(place)): \(reason): \(advice)" }
}

/// Thrown through a type's `init(from:)` where a value of a type is needed whose own first value
/// isn't made yet.
struct NeedsValue: Error {
    let type: any Any.Type
}
