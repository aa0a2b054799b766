import Foundation
import StrataContracts
import TestSupport
import Testing

@testable import DerivingFixtures
@testable import StrataDeriving

/// Each type has the contract that is kept in Documents. With `STRATA_KEEP_DOCUMENTS` in the
/// environment, the documents are written instead.
struct DocumentTests {
    private static let keeps = ProcessInfo.processInfo.environment["STRATA_KEEP_DOCUMENTS"] != nil

    private static func path(_ fixture: FixtureType) -> String {
        Repository.path("Tests/DerivingTests/Documents/\(fixture.name).json")
    }

    @Test(arguments: FixtureType.all)
    func eachTypeHasTheContractThatIsKept(_ fixture: FixtureType) throws {
        let derived = Data(try fixture.contract().encoded())
        if Self.keeps {
            try derived.write(to: URL(fileURLWithPath: Self.path(fixture)))
        } else {
            let kept = try Data(contentsOf: URL(fileURLWithPath: Self.path(fixture)))
            #expect(String(decoding: derived, as: UTF8.self) == String(decoding: kept, as: UTF8.self))
        }
    }

    @Test(arguments: FixtureType.all)
    func eachContractIsReadAgain(_ fixture: FixtureType) throws {
        let contract = try fixture.contract()
        #expect(try Contract(parsing: contract.encoded()) == contract)
    }

    @Test func eachDocumentBelongsToAType() throws {
        let kept = try Repository.entries("Tests/DerivingTests/Documents")
        #expect(kept == FixtureType.all.map { "\($0.name).json" }.sorted())
    }
}
