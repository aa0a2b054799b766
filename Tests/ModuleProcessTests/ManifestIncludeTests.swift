import Glibc
import StrataCore
import StrataManifest
import StrataTesting
import Testing

/// `include`: rows from further files.
@Suite(.timeLimit(.hang))
struct ManifestIncludeTests {
    @Test(.promise("M.96")) func rowsComeAfterTheManifestsOwnInTheFilesOrder() throws {
        let files = try ManifestFiles([
            "strata.yaml":
                "app: a\ninclude: [more/*.yaml, last.yaml, ./more/../more/b.yaml]\nmodules: {First: , Second: }",
            "more/b.yaml": "Zebra: {folder: data, run: [bin/zebra]}",
            "more/a.yaml": "Two: {level: middle}\nOne: ",
            "more/.c.yaml": "Hidden: ",
            "more/d.yaml~": "Backup: ",
            "last.yaml": "Ant: ",
        ])
        #expect(try files.rows == ["First", "Second", "Two", "One", "Zebra", "Ant"])
        let manifest = try files.load()
        #expect(manifest.table.modules[2].rank == 1)
        let folder = try #require(realpath(files.folder.path, nil).map { String(cString: $0) })
        #expect(manifest.processes[4].folder == "\(folder)/data")
        #expect(manifest.processes[4].executable == "\(folder)/bin/zebra")
    }

    @Test(.promise("M.96"), arguments: ["*", "r*s.yaml", "*w*.yaml", "row*", "r*o*w*s*.*y*l", "*.yaml"])
    func starStandsForAnyText(pattern: String) throws {
        let files = try ManifestFiles([
            "strata.yaml": "app: a\ninclude: d/\(pattern)", "d/rows.yaml": "A: ",
        ])
        #expect(try files.rows == ["A"])
    }

    @Test(.promise("M.96"), arguments: ["rows", "*.yml", "r*x*s.yaml", "rows.yaml*l", "rows.yaml.*", "*rows.yamlx"])
    func anotherNameDoesNotMatch(pattern: String) throws {
        let files = try ManifestFiles([
            "strata.yaml": "app: a\ninclude: d/*\(pattern)", "d/rows.yaml": "A: ",
        ])
        #expect(try files.rows == [])
    }

    @Test(.promise("M.96")) func folderMayBeEmpty() throws {
        let files = try ManifestFiles(["strata.yaml": "app: a\ninclude: d/*.yaml", "d/readme": "no rows"])
        #expect(try files.rows == [])
        try files.write("{}", to: "d/none.yaml")
        #expect(try files.rows == [])
    }

    @Test(.promise("M.96", "M.1")) func errorsNameTheFileAndTheLine() throws {
        let files = try ManifestFiles([
            "strata.yaml": "app: a\ninclude: d/*.yaml\nmodules:\n  A: {levle: middle}\n  B: ",
            "d/1.yaml": "# rows\nA: \nC: {requires: [x, x]}",
            "d/2.yaml": "C: \nD: {provides: [bus]}",
        ])
        #expect(
            files.errors == [
                "strata.yaml:4: modules.A.levle: unknown key; did you mean level?",
                "d/1.yaml:2: modules.A: expected each key once; strata.yaml:4 has it already",
                "d/1.yaml:3: modules.C.requires[1]: expected each name once; \"x\" is in the list already",
                "d/2.yaml:1: modules.C: expected each key once; d/1.yaml:3 has it already",
                "d/2.yaml:2: modules.D.provides[0]: expected an interface's name ([A-Za-z][A-Za-z0-9._-]{0,63}, not "
                    + "reserved); found \"bus\"",
            ])
    }

    /// An empty file, a half-written one, and what else is no mapping of rows.
    @Test(
        .promise("M.96"),
        arguments: [
            ("", "d/a.yaml: expected rows such as Storage: {run: [bin/storage]}, or {} for none; found an empty file"),
            ("A: {run: [", "d/a.yaml:2: not YAML: did not find expected node content"),
            ("[A]", "d/a.yaml:1: expected rows such as Storage: {run: [bin/storage]}, or {} for none; found a list"),
            ("A: \n--- \nB: ", "d/a.yaml:2: expected one document; found another"),
            ("A: {settings: \u{FFFD}}\nA: !x 1", "d/a.yaml:2: a manifest has no tag !x"),
        ])
    func fileThatHasNoRowsIsAnError(text: String, error: String) throws {
        let files = try ManifestFiles(["strata.yaml": "app: a\ninclude: d/*.yaml\nauthorizer: A", "d/a.yaml": text])
        #expect(files.errors == [error])
    }

    @Test(
        .promise("M.96"),
        arguments: [
            ("none.yaml", "none.yaml: can't be opened: No such file or directory"),
            ("none/*.yaml", "strata.yaml:2: include: its folder can't be opened: No such file or directory"),
            ("[fine.yaml, /dev/null]", "/dev/null: is not a regular file"),
            ("pip*", "pipe: is not a regular file"),
            ("d*", "d: is not a regular file"),
            (
                "{a: b}",
                "strata.yaml:2: include: expected a file's path, in whose last part * may stand; found a mapping"
            ),
            (
                "['*/a.yaml']",
                "strata.yaml:2: include[0]: expected a file's path, in whose last part * may stand; "
                    + "found \"*/a.yaml\""
            ),
            ("d/", "strata.yaml:2: include: expected a file's path, in whose last part * may stand; found \"d/\""),
            ("[\(String(repeating: "x, ", count: 17))]", "strata.yaml:2: include: expected at most 16 paths; found 17"),
        ])
    func pathThatLeadsNowhereIsAnError(include: String, error: String) throws {
        let files = try ManifestFiles(["strata.yaml": "app: a\ninclude: \(include)", "fine.yaml": "A: ", "d/a": "A: "])
        #expect(mkfifo("\(files.folder.path)/pipe", 0o600) == 0)
        #expect(files.errors == [error])
    }

    @Test(.promise("M.96", "M.2")) func limitsHoldForAllFilesTogether() throws {
        let half = "A: \n#" + String(repeating: "x", count: 1 << 19)
        let files = try ManifestFiles(["strata.yaml": "app: a\ninclude: d/*", "d/1": half, "d/2": half, "d/3": half])
        #expect(files.errors == ["d/2: is larger than 1 MiB together with the files before it"])
        let aliases =
            "A: &a {run: &b [\(String(repeating: "x,", count: 400))]}\n"
            + (0..<140).map { "A\($0): *a\n" }.joined()
        let many = try ManifestFiles(["strata.yaml": "app: a\ninclude: d/*", "d/1": aliases])
        #expect(many.errors == [])
        try many.write(aliases, to: "d/2")
        #expect(many.errors.first?.hasSuffix("aliases stand for more than 100000 values") == true)
    }

    @Test(.promise("M.96")) func atMostThisManyFilesAreRead() throws {
        let files = try ManifestFiles(["strata.yaml": "app: a\ninclude: d/*"])
        for number in 0..<1_024 { try files.write("A\(number): ", to: "d/\(number)") }
        #expect(try files.rows.count == 1_024)
        try files.write("B: ", to: "d/more")
        #expect(files.errors == ["strata.yaml:2: include: expected at most 1024 files; found more"])
    }

    /// What is found later, such as by `strata check`, has the place in the row's own file.
    @Test(.promise("M.96", "M.44")) func findingsNameTheFile() throws {
        let files = try ManifestFiles([
            "strata.yaml": "app: a\ninclude: d/*\nmodules: {A: {requires: [None]}}",
            "d/1": "B:\n  requires: [None]",
        ])
        let findings = AppReview(try files.load()).findings.map { "\($0)" }
        let prefix = files.folder.path
        #expect(findings.count == 2)
        #expect(findings.first?.hasPrefix("\(prefix)/strata.yaml:3: modules.A.requires[0]: ") == true, "\(findings)")
        #expect(findings.last?.hasPrefix("\(prefix)/d/1:2: modules.B.requires[0]: ") == true, "\(findings)")
    }
}
