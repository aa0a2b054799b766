import StrataContracts
import StrataCore
import StrataDeriving
import Testing

@testable import Strata

/// A contract that is derived from the Swift source that was generated from a document.
struct DerivedContractTests {
    final class Reader: Module {
        static let name = "Reader"
        init(bus: Bus) throws {}
        func register(_ exports: inout Exports) throws {
            exports.requires(Library.self)
            exports.requires(Archive.self)
        }
    }

    /// Removes what Swift's types don't say: doc comments, limits, defaults and who may call.
    private func withoutRest(_ json: JSON) -> JSON {
        let rest = ["description", "deprecated", "default", "minLength", "maxLength", "auth"]
        switch json {
        case .array(let elements): return .array(elements.map(withoutRest))
        case .object(let members):
            return .object(
                members.filter { !rest.contains($0.name) }.map {
                    JSON.Member($0.name, $0.name == "errors" ? $0.value : withoutRest($0.value))
                })
        default: return json
        }
    }

    @Test func contractOfGeneratedSourceIsTheDocument() async throws {
        let contracts = try await Task { @ModuleActor in
            var exports = Exports()
            exports.requires(Library.self)
            exports.requires(Archive.self)
            return try ContractBuilder(exports.outline("Reader", Reader.self, []), checks: true).contracts
        }.value
        let archive = try #require(contracts.requires.first { $0.subject.name == "Archive" })
        #expect(withoutRest(archive.json()) == withoutRest(try StubDocument.contract("Archive").json()))
        let derived = try #require(contracts.requires.first { $0.subject.name == "Library" })
        var document = try StubDocument.contract("Library")
        // An unknown type is any type in Swift.
        let raw = try #require(document.actions.firstIndex { $0.name == "raw" })
        document.actions[raw].params = Schema(.any)
        document.actions[raw].result = .reply(Schema(.any))
        #expect(withoutRest(derived.json()) == withoutRest(document.json()))
        #expect(derived.json().description.contains("The library is closed."))
    }
}
