import StrataCore
import TestSupport
import Testing

/// Versions of contracts, and interfaces that are required with one.
struct ContractVersionTests {
    @Test(.promise("5.51"), arguments: ["0.0", "2.1", "10.20", "65535.65535"])
    func twoNumbersAreAVersion(_ text: String) {
        #expect(ContractVersion(text)?.description == text)
    }

    @Test(
        .promise("5.51"),
        arguments: [
            "", "2", "2.", ".1", "2.1.0", "02.1", "2.01", "-1.0", "+2.1", "2.1 ", " 2.1", "2,1", "v2.1", "65536.0",
            "0.65536", "99999999999999999999.1", "2.1\n", "２.１", "2.x",
        ])
    func anythingElseIsNone(_ text: String) {
        #expect(ContractVersion(text) == nil)
    }

    @Test(.promise("5.52"), arguments: [("2.1", "2.1"), ("2.1", "2.0"), ("1.65535", "1.0"), ("0.3", "0.2")])
    func aProviderServesItsMajorAndEarlierMinors(_ versions: (ContractVersion, ContractVersion)) {
        #expect(versions.0.serves(versions.1))
    }

    @Test(.promise("5.52"), arguments: [("2.1", "2.2"), ("2.1", "1.1"), ("2.1", "3.0"), ("3.0", "2.9")])
    func aProviderServesNoLaterMinorAndNoOtherMajor(_ versions: (ContractVersion, ContractVersion)) {
        #expect(!versions.0.serves(versions.1))
    }

    /// The bus compares only the lowest and the highest version that modules require.
    @Test(.promise("13.44")) func whatAVersionServesLiesTogether() {
        let all: [ContractVersion] = (0..<4).flatMap { major in
            (0..<4).map { ContractVersion(major: UInt16(major), minor: UInt16($0)) }
        }
        #expect(all == all.sorted())
        for provided in all {
            let served = all.indices.filter { provided.serves(all[$0]) }
            #expect(served == Array((served.first ?? 0)...(served.last ?? -1)))
        }
    }

    @Test(
        .promise("5.51"),
        arguments: [
            ("Storage", "Storage", nil), ("Storage@2.1", "Storage", "2.1"), ("StorageRouter@0.7", "Storage", "0.7"),
            ("StorageRouterRouter", "StorageRouter", nil), ("Router@1.0", "Router", "1.0"), ("a.b-c_d", "a.b-c_d", nil),
        ] as [(String, String, ContractVersion?)])
    func aRequiredInterfaceMayHaveAVersion(_ text: String, _ name: String, _ version: ContractVersion?) {
        #expect(RequiredInterface(text) == RequiredInterface(name: name, version: version))
    }

    @Test(
        .promise("5.51"),
        arguments: ["", "@2.1", "Storage@", "Storage@2", "Storage@2.1@2.1", "Stor age@2.1", "Storage @2.1", "9@1.0"])
    func anythingElseIsNoRequiredInterface(_ text: String) {
        #expect(RequiredInterface(text) == nil)
    }

    /// A suffix is removed once, however often the text is passed on.
    @Test(.promise("3.12")) func theCanonicalTextKeepsItsName() throws {
        let text = "StorageRouterRouter@2.1"
        let required = try #require(RequiredInterface(text))
        #expect(required.description == "StorageRouter@2.1")
        #expect(RequiredInterface(canonical: required.description) == required)
    }
}
