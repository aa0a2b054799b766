import Glibc
import StrataCore
import StrataManifest
import StrataTesting
import Testing
import TestSupport

/// `settings` and `secrets`: where values come from, and which of them counts.
@Suite(.timeLimit(.hang))
struct ManifestSettingsTests {
    private static let manifest = """
        app: a
        settings: {page: 1, size: 1, other: [1, {x: y}]}
        modules:
          A:
            settings: {page: 2, own: 2}
          B:
        """

    @Test(.promise("M.120")) func laterLayersWin() throws {
        var files = try ManifestFiles(["strata.yaml": Self.manifest])
        #expect(try values(files, of: "A") == "page=2 size=1 other=[1,{\"x\":\"y\"}] own=2")
        #expect(try values(files, of: "B") == "page=1 size=1 other=[1,{\"x\":\"y\"}]")

        try files.write("size: 3\nmodules: {A: {page: 3, size: 4}}", to: "settings.d/10.yaml")
        try files.write("own: 5", to: "settings.d/20.yaml")
        try files.write("own: 6", to: "settings.d/.30.yaml")
        try files.write("own: 7", to: "settings.d/40.yml")
        #expect(try values(files, of: "A") == "page=3 size=4 other=[1,{\"x\":\"y\"}] own=5")
        #expect(try values(files, of: "B") == "page=1 size=3 other=[1,{\"x\":\"y\"}] own=5")

        files.environment = ["STRATA_SET_page": "8", "STRATA_SET_a__b_c": "x", "STRATA_SET_d.e": #""9""#, "page": "no"]
        #expect(try values(files, of: "A") == #"page=8 size=4 other=[1,{"x":"y"}] own=5 a.b_c="x" d.e="9""#)
        #expect(try values(files, of: "B") == #"page=8 size=3 other=[1,{"x":"y"}] own=5 a.b_c="x" d.e="9""#)
    }

    /// Returns what the module of a row gets, as the table and as tools know it.
    private func values(_ files: ManifestFiles, of row: String) throws -> String {
        let manifest = try files.load()
        let table = manifest.table
        let own = try #require(table.modules.first { $0.name == row }).settings
        let known = manifest.values(of: row).map { JSON.Member($0.key, $0.value) }
        for member in known {
            #expect((own.first { $0.name == member.name }?.value ?? table.settings[member.name]) == member.value)
        }
        #expect(Set((table.settings.object ?? []).map(\.name) + own.map(\.name)) == Set(known.map(\.name)))
        #expect(try AppTable(json: JSON(parsing: table.json().encoded())) == table)
        return known.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }

    @Test(.promise("M.120")) func eachValueKnowsItsLayerAndItsPlace() throws {
        var files = try ManifestFiles(["strata.yaml": Self.manifest])
        try files.write("\nmodules:\n  A:\n    size: [\n      1]", to: "settings.d/1.yaml")
        files.environment = ["STRATA_SET_own": "1"]
        let manifest = try files.load()
        let folder = files.folder.path + "/"
        #expect(
            manifest.values(of: "A").map { "\($0.key) \($0.layer.rawValue) \($0.place)" } == [
                "page row \(folder)strata.yaml:5", "size settings.d \(folder)settings.d/1.yaml:4",
                "other app \(folder)strata.yaml:2", "own environment STRATA_SET_own",
            ])
    }

    @Test(
        .promise("M.120", "M.1"),
        arguments: [
            ("modules:\n  C: {x: 1}", "settings.d/a.yaml:2: modules.C: expected a row of this manifest; found \"C\""),
            ("a: 1\na: 2", "settings.d/a.yaml:2: a: expected each key once; line 1 has it already"),
            (
                "modules: {A: [x]}",
                "settings.d/a.yaml:1: modules.A: expected a mapping such as {catalog.page: 20}; found a list"
            ),
            (
                "modules: 1",
                "settings.d/a.yaml:1: modules: expected a mapping such as {Catalog: {catalog.page: 20}}; found 1"
            ),
            ("x: .nan", "settings.d/a.yaml:1: x: expected a finite number; found .nan"),
            ("", "settings.d/a.yaml: expected settings such as catalog.page: 20, or {} for none; found an empty file"),
            ("- x", "settings.d/a.yaml:1: expected settings such as catalog.page: 20, or {} for none; found a list"),
            ("x: *y", "settings.d/a.yaml:1: this alias stands for nothing"),
        ])
    func errorsOfAFileNameItAndTheLine(text: String, error: String) throws {
        let files = try ManifestFiles(["strata.yaml": Self.manifest, "settings.d/a.yaml": text])
        let errors = files.errors
        #expect(errors.count == 1 && errors.first?.hasPrefix(error) == true, "\(errors)")
    }

    @Test(.promise("M.120")) func otherErrorsOfLayers() throws {
        var files = try ManifestFiles(["strata.yaml": "app: a\nsettings: [1]\nmodules:\n  A: {settings: {x: 1}}"])
        #expect(
            files.errors == [
                "strata.yaml:2: settings: expected a mapping such as {catalog.page: 20}, because strata.yaml:4 sets x"
            ])
        try files.write("app: a\nsettings: [1]\nmodules: {A: }", to: "strata.yaml")
        #expect(try files.load().table.settings == [1])

        files.environment = ["STRATA_SET_": "1", "STRATA_SET_a.b": "2", "STRATA_SET_a__b": "3"]
        try files.write("app: a", to: "strata.yaml")
        #expect(
            files.errors == [
                "strata.yaml: STRATA_SET_: expected a setting's key after STRATA_SET_; found none",
                "strata.yaml: STRATA_SET_a__b: expected each setting once; STRATA_SET_a.b sets a.b, too",
            ])
        files.environment = ["STRATA_SET_x": String(repeating: "x", count: 1 << 20)]
        #expect(files.errors == ["strata.yaml: STRATA_SET_x: is larger than 1 MiB together with the files"])
    }

    /// The limits of a manifest hold for the files of `settings.d`, too.
    @Test(.promise("M.120")) func fileThatIsNoneOrTooLargeIsAnError() throws {
        let files = try ManifestFiles(["strata.yaml": "app: a", "settings.d/b.yaml": "b: 1"])
        #expect(mkfifo(files.folder.path + "/settings.d/a.yaml", 0o600) == 0)
        #expect(files.errors == ["settings.d/a.yaml: is not a regular file"])
        unlink(files.folder.path + "/settings.d/a.yaml")
        try files.write("a: " + String(repeating: "x", count: 1 << 20), to: "settings.d/a.yaml")
        #expect(files.errors == ["settings.d/a.yaml: is larger than 1 MiB together with the files before it"])
    }

    // MARK: secrets

    private static let withSecrets = """
        app: a
        modules:
          A:
            secrets:
              key: {file: key}
              word: {env: WORD}
          B:
        """

    @Test(.promise("M.121")) func secretsComeFromFilesAndVariables() throws {
        var files = try ManifestFiles(["strata.yaml": Self.withSecrets, "key": "one\ntwo\n\n"])
        files.environment = ["WORD": "three"]
        let manifest = try files.load()
        #expect(manifest.table.modules[0].secrets == [.init("key", "one\ntwo\n"), .init("word", "three")])
        #expect(manifest.table.modules[1].secrets.isEmpty)
        #expect(manifest.secretVariables == ["WORD"])
        #expect(try AppTable(json: JSON(parsing: manifest.table.json().encoded())) == manifest.table)
        // Neither its text nor its mirror has a value.
        #expect(!"\(manifest.table.modules[0].secrets)".contains("three"))
        var text = ""
        dump(manifest.table.modules, to: &text)
        #expect(text.contains("word") && !text.contains("three"))
        // Tools that don't run the app know the sources alone.
        files.readsSecrets = false
        unlink(files.folder.path + "/key")
        #expect(try files.load().table.modules[0].secrets.isEmpty)
        #expect(try files.load().secrets.map(\.key) == ["key", "word"])
        #expect(try files.load().secrets.map { $0.problem(files.environment) != nil } == [true, false])
    }

    @Test(.promise("M.121")) func secretThatOthersMayWriteIsRefused() throws {
        var files = try ManifestFiles(["strata.yaml": Self.withSecrets, "key": "one"])
        files.environment = ["WORD": "three"]
        let path = files.folder.path + "/key"
        for mode in [0o620, 0o602] as [mode_t] {
            chmod(path, mode)
            #expect(
                files.errors == [
                    "strata.yaml:5: modules.A.secrets.key: expected a file that only the launcher's user or root may "
                        + "write; key is user \(geteuid())'s, with mode \(String(mode, radix: 8)): change its owner, "
                        + "or chmod go-w it"
                ])
        }
        chmod(path, 0o644)
        #expect(files.errors == [])
        if geteuid() == 0 {
            chown(path, 12_345, 12_345)
            #expect(files.errors.count == 1 && files.errors[0].contains("key is user 12345's"), "\(files.errors)")
        }
    }

    @Test(.promise("M.121")) func secretThatCannotBeReadIsAnError() throws {
        var files = try ManifestFiles(["strata.yaml": Self.withSecrets])
        #expect(
            files.errors == [
                "strata.yaml:5: modules.A.secrets.key: key can't be opened: No such file or directory",
                "strata.yaml:6: modules.A.secrets.word: expected the variable WORD in the launcher's environment; it "
                    + "isn't set",
            ])
        files.environment = ["WORD": ""]
        mkfifo(files.folder.path + "/key", 0o600)
        #expect(files.errors == ["strata.yaml:5: modules.A.secrets.key: expected a regular file; key is none"])
        unlink(files.folder.path + "/key")
        try files.write(String(repeating: "x", count: 64 << 10) + "\n", to: "key")
        #expect(files.errors == [])
        try files.write(String(repeating: "x", count: 64 << 10) + "\n\n", to: "key")
        #expect(
            files.errors == [
                "strata.yaml:5: modules.A.secrets.key: expected a secret of at most 64 KiB; key is longer"
            ])
        files.environment = ["WORD": String(repeating: "x", count: (64 << 10) + 1)]
        try files.write("", to: "key")
        #expect(files.errors.count == 1 && files.errors[0].hasSuffix("the variable WORD is longer"))
    }

    /// What somebody wrote where a secret doesn't belong is never repeated.
    @Test(
        .promise("M.121"),
        arguments: [
            (
                "secrets: hunter2",
                ":3: modules.A.secrets: expected a mapping such as {session.key: {file: session.key}}"
            ),
            ("secrets: {key: hunter2}", ":3: modules.A.secrets.key: expected {file: PATH} or {env: NAME}"),
            ("secrets: {key: {}}", ":3: modules.A.secrets.key: expected one of the keys file and env"),
            ("secrets: {key: {file: a, env: B}}", ":3: modules.A.secrets.key: expected one of the keys file and env"),
            ("secrets: {key: {value: hunter2}}", ":3: modules.A.secrets.key.value: unknown key; expected file or env"),
            ("secrets: {key: {env: K}}, settings: {key: hunter2}", ":3: modules.A.settings.key: key is a secret of A"),
            ("keepEnv: [K], secrets: {key: {env: K}}", ":3: modules.A.keepEnv[0]: expected another variable; it holds"),
        ])
    func wrongSecretIsNotQuoted(row: String, error: String) throws {
        let text = Array("app: a\nmodules:\n  A: {\(row)}".utf8)
        let errors = TemporaryManifest.errors(text, environment: ["K": "x"])
        #expect(errors.contains { $0.hasPrefix(error) }, "\(errors)")
        #expect(!errors.joined().contains("hunter2"))
    }

    @Test(.promise("M.121")) func plainValueOfALayerForASecretIsAnError() throws {
        var files = try ManifestFiles(["strata.yaml": Self.withSecrets, "key": "one"])
        files.environment = ["WORD": "three", "STRATA_SET_word": "hunter2"]
        #expect(files.errors == ["strata.yaml: STRATA_SET_word: word is a secret of A: leave this value out"])
        files.environment["STRATA_SET_word"] = nil
        try files.write("key: hunter2", to: "settings.d/a.yaml")
        #expect(files.errors == ["settings.d/a.yaml:1: key: key is a secret of A: leave this value out"])
        // Another row may have a setting of that name.
        try files.write("modules: {B: {key: 1}}", to: "settings.d/a.yaml")
        #expect(files.errors == [])
    }
}
