public import StrataContracts
public import StrataCore
public import StrataDeriving

// The types that contracts are written with, so that `import Strata` is enough.

/// The version of an interface's contract, written as a string literal: `"2.1"`. A new major version
/// breaks callers of the earlier one; a new minor version only adds.
public typealias ContractVersion = StrataCore.ContractVersion

/// The most descriptors that an action takes with a call, and gives with its reply: 0 to 16 each.
public typealias DescriptorCounts = StrataContracts.DescriptorCounts

/// A type that says its own JSON Schema, because none can be derived from its `init(from:)`.
///
///     struct Price: Codable, ContractDescribing {
///         static let contractSchema: JSON = [
///             "type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$", "examples": ["9.50"],
///         ]
///         …
///     }
public typealias ContractDescribing = StrataDeriving.ContractDescribing

/// A setting's value that nobody is shown: it prints, reflects and is written as `‹secret›`. Code
/// that needs it says `secret.value`.
public typealias Secret = StrataDeriving.Secret

extension Nothing: ContractDescribing {
    public static var contractSchema: JSON { ["type": "object"] }
}
