import StrataCore
import StrataManifest
import Testing

/// The findings of `strata check` about versions of interfaces.
@Suite(.timeLimit(.hang))
struct VersionReviewTests {
    private func findings(_ text: String, _ hellos: [String: String]) throws -> [String] {
        try ReviewedApp(text, hellos: hellos).findings
    }

    private static let rows = """
        modules:
          Store:
            provides: [Plain, Data]
          Shop:
            level: middle
            requires: [Data@2.1]
        """
    private static let store = #""interfaces":{"Plain":{},"Data":{"version":"1.4"}}"#

    @Test(.promise("M.99")) func aVersionThatTheProviderDoesNotServeIsAnErrorWithBothPlaces() throws {
        let found = try findings(Self.rows, ["Store": Self.store])
        #expect(found.count == 1, "\(found)")
        let start = "7:16 error modules.Shop.requires[0]: Shop requires Data@2.1, and the module"
        #expect(found.first?.hasPrefix(start) == true)
        #expect(found.first?.contains("strata.yaml:4) serves version 1.4") == true, "\(found)")
    }

    @Test(.promise("M.99")) func whatTheModuleWasBuiltWithIsComparedToo() throws {
        let rows = Self.rows.replacing("Data@2.1", with: "Plain, Data")
        let found = try findings(rows, ["Store": Self.store, "Shop": #""requires":["DataRouter@1.5","Plain"]"#])
        #expect(found.map { $0.prefix(60) } == ["7:23 error modules.Shop.requires[1]: Shop requires Data@1.5,"])
        // What only the module requires has its row's place.
        let only = try findings(
            "modules:\n  Store: {provides: [Plain, Data]}\n  Shop: {level: middle}",
            ["Store": Self.store, "Shop": #""requires":["Data@1.5"]"#])
        #expect(only.map { $0.prefix(57) } == ["4:3 error modules.Shop.requires: Shop requires Data@1.5, "])
    }

    @Test(.promise("M.99"), arguments: ["Data@1.4", "Data@1.0", "Data"]) func whatFitsIsNoFinding(_ required: String)
        throws
    {
        let rows = Self.rows.replacing("Data@2.1", with: required)
        let shop = #""requires":["\#(required)"]"#
        #expect(try findings(rows, ["Store": Self.store, "Shop": shop]) == [])
        #expect(try findings(rows, ["Store": #""interfaces":{"Plain":{},"Data":{}}"#, "Shop": shop]) == [])
        #expect(try findings(rows, [:]) == [])
    }

    @Test(.promise("M.99"), arguments: ["Store", "Shop"]) func anExemptRowIsNotCompared(_ row: String) throws {
        let rows = Self.rows.replacing("\(row):", with: "\(row):\n    contracts: off")
        #expect(try findings(rows, ["Store": Self.store]) == [])
    }

    @Test(.promise("M.99")) func throughAdaptersAndInOneModuleNothingIsCompared() throws {
        let adapted = Self.rows.replacing("Data@2.1", with: "Old@2.1") + "\nadapters: {Old: {to: Data}}"
        #expect(try findings(adapted, ["Store": Self.store]) == [])
        let own = "modules:\n  Store: {provides: [Plain, Data], requires: [Data@2.1]}"
        #expect(try findings(own, ["Store": Self.store]) == [])
    }

    @Test(.promise("M.99")) func aRowAndItsModuleThatDifferAreAdvice() throws {
        let found = try findings(
            Self.rows.replacing("2.1", with: "1.2"), ["Store": Self.store, "Shop": #""requires":["Data@1.3"]"#])
        #expect(
            found == [
                "7:16 advice modules.Shop.requires[0]: the row says that Shop requires version 1.2 of Data, and the "
                    + "module was built with 1.3; fix one of them, or leave the row's version out"
            ])
    }

    @Test(
        .promise("M.99"),
        arguments: [
            (#""interfaces":{"Data":{"version":"2"}}"#, "version \"2\" of its interface Data is not"),
            (#""interfaces":{"Data":{"version":2.1}}"#, "version 2.1 of its interface Data is not"),
            (#""requires":["Data@2"]"#, "\"Data@2\" in its requires"),
        ])
    func aMalformedVersionOfAModuleIsToldAsItsMistake(_ hello: String, _ message: String) throws {
        let error = #expect(throws: ModuleDescription.Malformed.self) {
            try ModuleDescription(JSON(parsing: Array(#"{"protocol":1,\#(hello)}"#.utf8)))
        }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
