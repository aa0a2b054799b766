package import StrataContracts
internal import StrataDeriving

/// A type whose contract is kept as a file, in Tests/DerivingTests/Documents.
package struct FixtureType: Sendable, CustomStringConvertible {
    package typealias Content = any (Codable & SendableMetatype).Type

    package let name: String
    package let type: Content

    init(_ name: String, _ type: Content) {
        self.name = name
        self.type = type
    }

    package var description: String { name }

    /// A contract with the type as params, and as a reply: once itself, once as what others refer
    /// to.
    package func contract() throws -> Contract {
        let deriver = Deriver()
        var contract = Contract(.interface("Fixture"))
        var action = Contract.Action("use")
        let place = ValuePath.root.member("actions").member("use")
        action.params = try deriver.contents(of: type, at: place.member("params"))
        action.result = .reply(try deriver.schema(of: type, at: place.member("reply")))
        contract.actions = [action]
        _ = deriver.complete(&contract)
        return contract
    }

    package static let all: [FixtureType] =
        scalars + optionals + collections + structures + names + enums + recursion + classes + written + wrappers
}
