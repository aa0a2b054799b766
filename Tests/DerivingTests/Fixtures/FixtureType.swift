import StrataContracts
import Testing

@testable import StrataDeriving

/// A type whose contract is kept as a file, in Documents.
struct FixtureType: Sendable, CustomTestStringConvertible {
    let name: String
    let type: any (Codable & SendableMetatype).Type

    init(_ name: String, _ type: any (Codable & SendableMetatype).Type) {
        self.name = name
        self.type = type
    }

    var testDescription: String { name }

    /// A contract with the type as params, and as a reply: once itself, once as what others refer
    /// to.
    func contract() throws -> Contract {
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

    static let all: [FixtureType] =
        scalars + optionals + collections + structures + names + enums + recursion + classes + written + wrappers
}
