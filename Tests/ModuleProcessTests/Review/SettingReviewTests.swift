import StrataCore
import StrataManifest
import TestSupport
import Testing

/// What `strata check` finds about settings. Line 1 is the app's name.
@Suite(.timeLimit(.hang))
struct SettingReviewTests {
    /// A hello that declares settings with types.
    private static func declares(_ name: String, _ properties: String, required: String = "") -> String {
        #"""
        "contracts":{"module":{"contract":1,"module":"\#(name)","settings":{"type":"object","properties":{\#(properties)}\#
        \#(required.isEmpty ? "" : #","required":["\#(required)"]"#)}},"provides":[],"requires":[]}
        """#
    }

    private static let page = declares("Catalog", #""catalog.page":{"type":"integer","minimum":1,"default":20}"#)
    private static let none = #""contracts":{"module":{"contract":1,"module":"Notes"}}"#

    @Test(.promise("M.126")) func undeclaredKeyOfTheAppIsAnErrorIfNoModuleGetsIt() throws {
        let text = "settings: {catalog.pgae: 50}\nmodules:\n  Catalog:\n  Notes:"
        let other = Self.declares("Notes", "")
        #expect(
            try Self.findings(text, ["Catalog": Self.page, "Notes": other]) == [
                "2:26 error settings.catalog.pgae: no module declares catalog.pgae; did you mean catalog.page of Catalog "
                    + "(strata.yaml:4)?"
            ])
        // It may be meant for a module that declares none.
        let open = try Self.findings(text, ["Catalog": Self.page, "Notes": Self.none])
        #expect(
            open == [
                "2:26 advice settings.catalog.pgae: no module declares catalog.pgae, so only modules that declare no "
                    + "settings get it: Notes (strata.yaml:5); did you mean catalog.page of Catalog (strata.yaml:4)?"
            ])
        let twoOpen = try Self.findings(
            "\(text)\n  Log:", ["Catalog": Self.page, "Notes": Self.none, "Log": Self.none])
        try #require(twoOpen.count == 1, "\(twoOpen)")
        #expect(twoOpen[0].contains("get it: Notes (strata.yaml:5) and 1 more; did you mean"), "\(twoOpen)")
        // What isn't known, and what nobody declares, is no mistake.
        #expect(try Self.findings(text, ["Catalog": Self.page]) == [])
        #expect(try Self.findings(text, ["Catalog": Self.none, "Notes": Self.none]) == [])
    }

    @Test(.promise("M.126")) func undeclaredKeyOfARowIsAnErrorAlsoWithoutTypes() throws {
        let text = "modules:\n  Catalog: {settings: {catalog.pgae: 50, other: 1}}\n  Notes: {settings: {other: 1}}"
        for hello in [Self.page, #""settings":["catalog.page",{"name":"key","secret":true}]"#] {
            #expect(
                try Self.findings(text, ["Catalog": hello, "Notes": Self.none]) == [
                    "3:38 error modules.Catalog.settings.catalog.pgae: Catalog (strata.yaml:3) declares no setting "
                        + "catalog.pgae; did you mean catalog.page?",
                    "3:49 error modules.Catalog.settings.other: Catalog (strata.yaml:3) declares no setting other",
                ])
        }
    }

    @Test(.promise("M.126")) func anotherModulesKeyIsAnErrorInARow() throws {
        let notes = Self.declares("Notes", #""notes.most":{"type":"integer"}"#)
        let text = """
            modules:
              Catalog: {settings: {catalog.page: 5}}
              Notes: {settings: {notes.most: 5, catalog.page: 5}}
            """
        #expect(
            try Self.findings(text, ["Catalog": Self.page, "Notes": notes]) == [
                "4:51 error modules.Notes.settings.catalog.page: Notes (strata.yaml:4) declares no setting catalog.page"
            ])
    }

    @Test(.promise("M.126")) func wrongTypeNamesWhatWasExpectedAndFound() throws {
        let text = "settings: {catalog.page: many}\nmodules:\n  Catalog: {settings: {catalog.page: 0}}"
        #expect(
            try Self.findings(text, ["Catalog": Self.page]) == [
                #"2:26 error settings.catalog.page: Catalog (strata.yaml:4) declares another type of catalog.page: "#
                    + #"expected an integer of 1 or more, found the string "many""#,
                "4:38 error modules.Catalog.settings.catalog.page: Catalog (strata.yaml:4) declares another type of "
                    + "catalog.page: expected an integer of 1 or more, found the number 0",
            ])
        let sizes = Self.declares(
            "Catalog", #""sizes":{"type":"array","items":{"type":"object","properties":{"w":{"type":"number"}}}}"#)
        let found = try Self.findings("modules:\n  Catalog: {settings: {sizes: [{w: 1}, {w: x}]}}", ["Catalog": sizes])
        try #require(found.count == 1, "\(found)")
        #expect(found[0].contains(#"sizes: at $[1].w expected a number, found the string "x""#), "\(found)")
    }

    @Test(.promise("M.126")) func requiredSettingWithoutAValueIsAnError() throws {
        let hello = Self.declares("Catalog", #""catalog.page":{"type":"integer"}"#, required: "catalog.page")
        #expect(
            try Self.findings("modules:\n  Catalog:", ["Catalog": hello]) == [
                "3:3 error modules.Catalog: Catalog requires the setting catalog.page, which has no value: give it in "
                    + "settings, here or in the app's"
            ])
        for text in [
            "settings: {catalog.page: 1}\nmodules: {Catalog: }", "modules: {Catalog: {settings: {catalog.page: 1}}}",
        ] {
            #expect(try Self.findings(text, ["Catalog": hello]) == [])
        }
        let secret = Self.declares("Catalog", #""key":{"type":"string","writeOnly":true}"#, required: "key")
        let found = try Self.findings("modules:\n  Catalog:", ["Catalog": secret])
        try #require(found.count == 1, "\(found)")
        #expect(found[0].hasSuffix("has no value: name its file or variable in secrets"), "\(found)")
        let given = try Self.findings("modules:\n  Catalog: {secrets: {key: {env: K}}}", ["Catalog": secret])
        #expect(given == [])
    }

    @Test(.promise("M.127")) func plainValueOfASecretIsAnErrorThatDoesNotQuoteIt() throws {
        let secret = Self.declares("Catalog", #""key":{"type":"string","maxLength":2,"writeOnly":true}"#)
        for hello in [secret, #""settings":[{"name":"key","secret":true}]"#] {
            for text in [
                "settings: {key: hunter2}\nmodules:\n  Catalog:", "modules:\n  Catalog: {settings: {key: hunter2}}",
            ] {
                let found = try Self.findings(text, ["Catalog": hello])
                try #require(found.count == 1, "\(found)")
                #expect(found[0].contains("error"), "\(found)")
                #expect(found[0].contains(") declares key as a secret, whose value never stands in a"), "\(found)")
                #expect(!found[0].contains("hunter2"), "\(found)")
            }
        }
    }

    @Test(.promise("M.127")) func secretThatItsModuleDoesNotDeclareIsAnError() throws {
        let text = "modules:\n  Catalog: {secrets: {kay: {env: K}}}"
        func found(_ hello: String) throws -> [String] { try Self.findings(text, ["Catalog": hello]) }
        let start = "3:23 error modules.Catalog.secrets.kay: Catalog (strata.yaml:3) "
        let key = Self.declares("Catalog", #""key":{"type":"string","writeOnly":true}"#)
        #expect(
            try found(key) == [start + "declares no secret kay, so it doesn't get it; did you mean key?"])
        #expect(
            try found(#""settings":["kay"]"#) == [
                start + "declares kay, but not as a secret, so it doesn't get it: declare it as one, or give a value "
                    + "in settings"
            ])
        #expect(
            try found(Self.none) == [
                start + "declares no settings, so it doesn't get the secret kay: declare it in code, as a secret"
            ])
        #expect(try found(#""settings":[{"name":"kay","secret":true}]"#) == [])
        #expect(try Self.findings(text) == [])
    }

    /// A finding stands in the file and the line of the value.
    @Test(.promise("M.126")) func valuesOfOtherLayersHaveTheirPlaces() throws {
        var files = try ManifestFiles([
            "strata.yaml": "app: a\nmodules:\n  Catalog:", "settings.d/a.yaml": "x: 1\ncatalog.pgae: 50",
        ])
        files.environment = ["STRATA_SET_catalog__page": "many"]
        let description = try ModuleDescription(JSON(parsing: Array(#"{"protocol":1,\#(Self.page)}"#.utf8)))
        let findings = AppReview(try files.load(), ["Catalog": description]).findings.map(\.description)
        let folder = files.folder.path + "/"
        #expect(findings.count == 3, "\(findings)")
        #expect(findings.contains { $0.hasPrefix("\(folder)settings.d/a.yaml:2: catalog.pgae: no module declares") })
        #expect(findings.contains { $0.hasPrefix("\(folder)strata.yaml: STRATA_SET_catalog__page: Catalog (") })
    }

    /// Returns the findings, without the folder of the temporary manifest.
    private static func findings(_ text: String, _ hellos: [String: String] = [:]) throws -> [String] {
        let app = try ReviewedApp(text, hellos: hellos)
        let folder = app.manifest.path.replacing("strata.yaml", with: "")
        return app.findings.map { $0.replacing(folder, with: "") }
    }
}
