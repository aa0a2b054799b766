import StrataCore
import StrataManifest
import Testing

/// What `strata check --fix` writes.
struct ManifestFixTests {
    /// A module that requires, sends and provides something.
    static let busy = """
        "interfaces": {"A": {}, "B": {}}, "requires": ["Store@2.1", "Clock"], "broadcasts": ["a.new"],
        "reports": {"Log": ["log.line", "log.more"]}
        """

    private func description(_ hello: String) throws -> ModuleDescription {
        try ModuleDescription(try JSON(parsing: "{\"protocol\": 1, \"module\": \"X\", \(hello)}"))
    }

    /// Returns the new contents of the files that change.
    private func fixed(_ files: [String: String], _ hellos: [String: String]) throws -> [String: String] {
        let written = try ManifestFiles(files)
        let manifest = try written.load()
        let descriptions = try hellos.mapValues(description)
        let fix = try ManifestFix(manifest, descriptions, environment: [:])
        for file in fix.files {
            let name = String(file.path.dropFirst(written.folder.path.count + 1))
            #expect(files[name].map { Array($0.utf8) } == file.before)
            try written.write(String(decoding: file.after, as: UTF8.self), to: name)
        }
        // A second check finds nothing more to add.
        let again = try written.load()
        #expect(try ManifestFix(again, descriptions, environment: [:]).files.isEmpty)
        // What the rows now say may be advised against, but is no error.
        let before = AppReview(manifest, descriptions).findings.map(\.problem.message)
        let after = AppReview(again, descriptions).findings.filter { $0.severity == .error }.map(\.problem.message)
        #expect(after.filter { !before.contains($0) }.isEmpty)
        return Dictionary(
            uniqueKeysWithValues: fix.files.map {
                (String($0.path.dropFirst(written.folder.path.count + 1)), String(decoding: $0.after, as: UTF8.self))
            })
    }

    private func fixed(_ text: String, _ hellos: [String: String]) throws -> String {
        try fixed(["strata.yaml": text], hellos)["strata.yaml"] ?? text
    }

    private static let others = """

          Store: {level: basic, provides: [Store, Clock]}
          Log:
        """

    private func app(_ rows: String) -> String {
        "app: test   # name\ncalls: declared\n\nmodules:\n\(rows)\(Self.others)\n# the end\n"
    }

    @Test(
        .promise("W.6", "W.7"),
        arguments: [
            (
                // Keys are added at the row's end, above what follows it.
                "  A:\n    level: topout # last\n    run: ['a b', \"c\"]   # runs\n\n    # next\n",
                "  A:\n    level: topout # last\n    run: ['a b', \"c\"]   # runs\n    provides: [A, B]\n"
                    + "    requires: [Store, Clock]\n    broadcasts: [a.new]\n"
                    + "    reports: {Log: [log.line, log.more]}\n\n    # next\n"
            ),
            (
                "  A: {level: topout, provides: [ A ] , requires: [], broadcasts: [x.y, ], reports: {Log: [log.line]}}",
                "  A: {level: topout, provides: [ A, B ] , requires: [Store, Clock], broadcasts: [x.y, a.new, ], "
                    + "reports: {Log: [log.line, log.more]}}"
            ),
            (
                "  A:\n      level: topout\n      provides:\n      - A # mine\n      requires:\n      - Clock\n\n",
                "  A:\n      level: topout\n      provides:\n      - A # mine\n      - B\n      requires:\n      - Clock\n"
                    + "      - Store\n      broadcasts:\n      - a.new\n      reports:\n"
                    + "        Log: [log.line, log.more]\n\n"
            ),
            (
                "  A:\n    level: topout\n    requires: [\n      Clock,   # time\n    ]\n    provides: [A,\n      B]\n"
                    + "    reports:\n        Log:\n          - log.line\n    broadcasts:\n      [\n        \"b\" # b\n      ]",
                "  A:\n    level: topout\n    requires: [\n      Clock,   # time\n      Store,\n    ]\n"
                    + "    provides: [A,\n      B]\n    reports:\n        Log:\n          - log.line\n"
                    + "          - log.more\n    broadcasts:\n      [\n        \"b\", # b\n        a.new\n      ]"
            ),
            (
                "  A: {level: topout,\n      provides: [A, B], requires: [Store, Clock], # two\n"
                    + "      broadcasts: [a.new]}",
                "  A: {level: topout,\n      provides: [A, B], requires: [Store, Clock], # two\n"
                    + "      broadcasts: [a.new],\n      reports: {Log: [log.line, log.more]}}"
            ),
        ])
    func theRowsGetWhatTheirProgramsSay(before: String, after: String) throws {
        #expect(try fixed(app(before), ["A": Self.busy]) == app(after))
    }

    /// An empty row gets its first keys, in lines or in braces.
    @Test(.promise("W.6", "W.7")) func emptyRowsGetTheirFirstKeys() throws {
        let hellos = ["Log": ##""interfaces": {"Log": {}}, "broadcasts": ["one two", "true", "#3"]"##]
        #expect(
            try fixed("app: test\ncalls: declared\nmodules:\n  Log: # here\n  Other: {}\n", hellos)
                == "app: test\ncalls: declared\nmodules:\n  Log: # here\n    provides: [Log]\n"
                + "    broadcasts: [\"one two\", \"true\", \"#3\"]\n  Other: {}\n")
        #expect(
            try fixed("{app: test, calls: declared, modules: {Log: , Other: {}}}", hellos)
                == "{app: test, calls: declared, modules: {Log: {provides: [Log], "
                + "broadcasts: [\"one two\", \"true\", \"#3\"]} , Other: {}}}")
        #expect(
            try fixed(
                "app: t\nmodules:\n  Log: ~\n  Other: {}",
                ["Log": hellos["Log"]!, "Other": #""interfaces": {"O": {}}"#])
                == "app: t\nmodules:\n  Log: {provides: [Log]}\n  Other: {provides: [O]}")
    }

    @Test(.promise("W.6")) func urlsOfOnDemandModulesAreAdded() throws {
        let hello = #"""
            "interfaces": {"A": {}}, "urls": [{"host": "a", "path": "/go/:x", "to": "A/go"}, {"host": "a", "path": "/", "to": "A/go"},
            {"host": "a", "path": "/old", "to": "A/go"}]
            """#
        #expect(
            try fixed(
                "app: t\nmodules:\n  A:\n    run: [a]\n    start: on-demand\n    provides: [A]\n    urls:\n"
                    + "      a/old: A/go\n\n\n  B:\n", ["A": hello])
                == "app: t\nmodules:\n  A:\n    run: [a]\n    start: on-demand\n    provides: [A]\n    urls:\n"
                + "      a/old: A/go\n      \"a/go/:x\": A/go\n      a/: A/go\n\n\n  B:\n")
        let eager = "app: t\nmodules:\n  A: {run: [a], provides: [A]}\n"
        #expect(try fixed(eager, ["A": hello]) == eager)
    }

    /// Without `declared` the bus doesn't ask the row what its module sends.
    @Test(.promise("W.6")) func onlyFindingsAreFixed() throws {
        let text = "app: test\nmodules:\n  A: {level: topout, provides: [A, B]}\(Self.others)\n"
        #expect(try fixed(text, ["A": Self.busy]) == text)
        // What only the row says stays.
        let more = app(
            "  A: {level: topout, provides: [A, B], requires: [Store, Clock], broadcasts: [a.new, gone], "
                + "reports: {Log: [log.line, log.more, gone]}}")
        #expect(try fixed(more, ["A": Self.busy]) == more)
    }

    @Test(.promise("W.7")) func aRowOfAnIncludedFileIsChangedThere() throws {
        let files = [
            "strata.yaml": "app: test\ncalls: declared\ninclude: rows/*.yaml\nmodules:\n  Log:\n",
            "rows/a.yaml": "# Ä ö\r\nA:\r\n  provides: [A, B]\r\n  observes:\r\n  - \"ü\"\r\n",
            "rows/b.yaml": "{Store: {provides: [Store, Clock]}}",
        ]
        let result = try fixed(files, ["A": Self.busy, "Log": #""interfaces": {"Log": {}}"#])
        #expect(
            result == [
                "strata.yaml":
                    "app: test\ncalls: declared\ninclude: rows/*.yaml\nmodules:\n  Log:\n    provides: [Log]\n",
                "rows/a.yaml": "# Ä ö\r\nA:\r\n  provides: [A, B]\r\n  observes:\r\n  - \"ü\"\r\n"
                    + "  requires: [Store, Clock]\r\n  broadcasts: [a.new]\r\n"
                    + "  reports: {Log: [log.line, log.more]}\r\n",
            ])
    }

    @Test(
        .promise("W.9"),
        arguments: [
            (
                // A level rule forbids what the program requires.
                "app: t\ncalls: declared\nmodules:\n  A:\n  Store: {level: topout, provides: [Store, Clock]}\n  Log:\n",
                ["A": busy], "strata.yaml:6: modules.A.requires[0]: Store belongs to Store in the later level topout"
            ),
            (
                "app: t\nmodules:\n  A: &a {run: [a]}\n  C: *a\n", ["A": busy],
                "strata.yaml:3: modules.A: aliases may stand for this value, so nothing is added: write it without &"
            ),
            (
                "app: t\nmodules:\n  C: &a {run: [a]}\n  A: *a\n", ["A": busy],
                "modules.A: an alias stands here, so nothing can be added: write its value out"
            ),
            (
                // Two programs bring the same.
                "app: t\nmodules:\n  A: {}\n  D: {}\n", ["A": busy, "D": #""interfaces": {"B": {}}"#],
                "strata.yaml:4: modules.D.provides[0]: expected an interface of this row alone; B is provided by A too"
            ),
        ])
    func nothingIsWrittenThatWouldBeNoManifest(text: String, hellos: [String: String], error: String) throws {
        let files = try ManifestFiles(["strata.yaml": text])
        let manifest = try files.load()
        let descriptions = try hellos.mapValues(description)
        let thrown = #expect(throws: ManifestErrors.self) {
            // The files are there as long as their folder is.
            try withExtendedLifetime(files) { try ManifestFix(manifest, descriptions, environment: [:]) }
        }
        #expect(thrown?.description.contains(error) == true, "\(String(describing: thrown))")
    }
}
