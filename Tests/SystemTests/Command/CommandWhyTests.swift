import Glibc
import StrataCore
import StrataTesting
import Testing

/// `strata why`, which needs no bus.
@Suite(.timeLimit(.hang))
struct CommandWhyTests {
    /// An app whose folder lasts as long as this value.
    private struct App {
        let folder: TemporaryFolder
        let path: String

        /// Makes an app. The program of Storage describes itself, and that of Notes must not be
        /// asked.
        init(manifest: String = "strata.yaml") throws {
            folder = try TemporaryFolder()
            let hello = #"{"protocol":1,"interfaces":{"Storage":{"actions":{"load":{}}}}}"#
            chmod(try folder.file("storage", "#!/bin/sh\n[ \"$1\" = --describe ] && echo '\(hello)'\n"), 0o755)
            chmod(try folder.file("notes", "#!/bin/sh\n>\"$0.asked\"\n"), 0o755)
            path = try folder.file(
                manifest,
                """
                app: test
                calls: declared
                schemes: [test]
                modules:
                  Storage: {run: [storage], provides: [Storage], broadcasts: [storage.changed]}
                  Log: {provides: [Log], observes: [log.line]}
                  Notes:
                    level: topout
                    run: [notes]
                    requires: [Storage]
                    provides: [Notes]
                    observes: [storage.changed]
                    reports: {Log: [log.line]}
                    urls: {"note/:item": Notes/add}
                    opens: {catalog: {app: catalog}}
                """)
        }

        func why(_ words: String..., output: CommandRun.Output = .pipe) async throws -> CommandRun {
            try await CommandRun.of(
                ["why"] + words + ["--manifest", path], environment: ["PATH": "/usr/bin:/bin"], output: output)
        }
    }

    @Test(.promise("M.61")) func callIsExplainedToAProgramAndToAPerson() async throws {
        let app = try App()
        let run = try await app.why("Log", "Storage/load")
        #expect(run.status == 1 && run.error == "" && run.lines.count == 1)
        let answer = try JSON(parsing: Array(run.output.utf8))
        #expect(answer["subject"] == "Log calls Storage/load" && answer["allowed"] == false)
        #expect(answer["code"] == "undeclared" && answer["changes"] == [["add Storage to requires of Log"]])
        let checks = answer["checks"]?.array ?? []
        #expect(
            checks.map { $0["check"]?.string } == [
                "existence", "level", "declaration", "owner", "actions", "instance", "authorization",
            ])
        #expect(
            checks.map { $0["result"]?.string } == ["passed", "passed", "refused", "passed", "passed", "free", "free"])
        #expect(
            checks[0] == [
                "check": "existence", "result": "passed", "reason": "Storage provides Storage",
                "file": .string(app.path),
                "line": 5, "column": 40, "key": "modules.Storage.provides[0]",
            ])
        let person = try await app.why("Notes", "Storage/load", output: .terminal(columns: 120))
        let plain = person.output.replacing(/\u{1B}\[[0-9]*m/, with: "")
        #expect(person.status == 0)
        #expect(plain.hasPrefix("Notes calls Storage/load: allowed\nCHECK          RESULT  WHY"))
        #expect(plain.contains("declaration    passed  Notes requires Storage"))
    }

    @Test(.promise("M.59")) func alternativesAreToldFromWhatIsNecessary() async throws {
        let folder = try TemporaryFolder()
        let hello = #"{"protocol":1,"interfaces":{"B":{"actions":{"wipe":{"auth":true}}}}}"#
        chmod(try folder.file("b", "#!/bin/sh\necho '\(hello)'\n"), 0o755)
        let path = try folder.file(
            "strata.yaml",
            "app: test\ncalls: declared\nmodules:\n  A: {requires: [B]}\n  B: {level: middle, run: [b], provides: [B]}\n"
        )
        func changes(_ words: String...) async throws -> [String] {
            let run = try await CommandRun.of(
                ["why"] + words + ["--manifest", path], environment: ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"],
                output: .terminal(columns: 80))
            #expect(run.status == 1 && run.lines.allSatisfy { $0.count <= 80 }, "\(run.output)")
            return Array(run.lines.drop { !$0.hasPrefix("What would change it") })
        }
        #expect(
            try await changes("A", "B/wipe") == [
                "What would change it, all of these together:", "  - any one of these:",
                "    - move A to middle or a later level", "    - move B to basic or an earlier level",
                "    - set calls: any", "    - map a URL to it in urls of B, and open that: it is free",
                "    - let A broadcast, and B observe", "  - name an interface that decides in authorizer",
            ])
        #expect(
            try await changes("A", "x", "--to", "B").prefix(3) == [
                "What would change it, any one of these:",
                "  - broadcast it, and let B observe it, and list it in broadcasts of A",
                "  - move A to middle or a later level, and add x to B to reports of A",
            ])
        #expect(try await changes("A", "x", "--event").first == "What would change it, all of these together:")
        #expect(try await changes("B", "y", "--to", "A").first == "What would change it:")
    }

    /// The words beside it are broken into lines instead.
    @Test func aPlaceIsInOnePieceWhereTheTerminalHasRoom() async throws {
        let app = try App()
        let run = try await app.why("Log", "Storage/load", output: .terminal(columns: 100))
        let lines = run.output.replacing(/\u{1B}\[[0-9]*m/, with: "").split(separator: "\n")
        #expect(lines.contains { $0.hasSuffix("  \(app.path):5:40") }, "\(run.output)")
        #expect(lines.allSatisfy { $0.count <= 100 })
    }

    @Test func aPlaceIsBrokenAndWholeWhereNoTerminalHasRoomForIt() async throws {
        let app = try App(manifest: String(repeating: "long-", count: 20) + ".yaml")
        let run = try await app.why("Log", "Storage/load", output: .terminal(columns: 80))
        let lines = run.output.replacing(/\u{1B}\[[0-9]*m/, with: "").split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(run.output)")
        let titles = try #require(lines.first { $0.hasPrefix("CHECK ") })
        let column = titles.count - "PLACE".count
        let places = lines.drop { $0 != titles }.map { String($0.dropFirst(column)) }.joined()
        #expect(places.contains("\(app.path):5:40"), "\(places)")
    }

    @Test(.promise("M.61")) func onlyProgramsThatMatterAreAskedAndNoneWhereItIsStatic() async throws {
        let app = try App()
        #expect(try await app.why("Log", "Storage/laod").output.contains("did you mean load?"))
        let unasked = try await app.why("Notes", "Storage/laod", "--static")
        #expect(unasked.status == 0 && unasked.output.contains(#""check":"actions","result":"depends""#))
        #expect(access(app.path.replacing("strata.yaml", with: "notes.asked"), F_OK) != 0)
    }

    @Test(.promise("M.61", "M.112")) func anotherAppsURLIsItsRowsToOpenAndAsksNoProgram() async throws {
        let app = try App()
        let allowed = try await app.why("Notes", "catalog://item/7")
        let answer = try JSON(parsing: Array(allowed.output.utf8))
        #expect(allowed.status == 0 && answer["allowed"] == true && answer["changes"] == [])
        #expect(
            answer["checks"]?.array?.map { "\($0["check"]?.string ?? "") \($0["result"]?.string ?? "")" } == [
                "existence passed", "level free", "declaration free", "owner depends",
            ])
        let refused = try await app.why("Log", "catalog://item/7", output: .terminal(columns: 120))
        let plain = refused.output.replacing(/\u{1B}\[[0-9]*m/, with: "")
        #expect(
            refused.status == 1 && plain.hasPrefix("Log opens catalog://item/7: refused, unknown-scheme"), "\(plain)")
        #expect(plain.contains("add catalog to opens of Log, as the row of Notes has it"), "\(plain)")
        #expect(access(app.path.replacing("strata.yaml", with: "notes.asked"), F_OK) != 0)
    }

    @Test func urlsAndNotificationsAreToldFromCalls() async throws {
        let app = try App()
        func subject(_ words: String...) async throws -> [String] {
            let run = try await CommandRun.of(["why"] + words + ["--static", "--manifest", app.path])
            return run.lines.map { line in
                let answer = try? JSON(parsing: Array(line.utf8))
                return "\(answer?["subject"]?.string ?? "?") \(run.status)"
            }
        }
        #expect(try await subject("Log", "test://note/x") == ["Log opens test://note/x 0"])
        #expect(try await subject("Notes", "Storage") == ["Notes calls Storage 0"])
        #expect(try await subject("Storage", "storage.changed") == ["Storage broadcasts storage.changed 0"])
        #expect(try await subject("Notes", "log.line") == ["Notes reports log.line to Log 0"])
        #expect(try await subject("Notes", "app.reload") == ["Notes emits app.reload 1"])
        #expect(try await subject("Notes", "Storage", "--event") == ["Notes emits Storage 1"])
        #expect(try await subject("Notes", "Storage", "--broadcast") == ["Notes broadcasts Storage 1"])
        #expect(try await subject("Storage", "log.line", "--to", "Notes") == ["Storage reports log.line to Notes 1"])
    }

    @Test(
        .promise("M.61"),
        arguments: [
            (["Nots", "Storage/load"], "names Nots\nDid you mean Notes?"),
            (["Notes", "Storge"], "Storge is not an Interface/action"),
            (["Notes", "storage.chagned"], "mean storage.changed?"),
            (["Notes", "log.line", "--to", "Logg"], "names Logg\nDid you mean Log?"),
            (["Notes", "log.line", "--to", "Log", "--broadcast"], "Use only one of"), (["Notes"], "Missing"),
            (["Notes", "", "--broadcast"], "a name has 1 to 256 bytes"),
        ])
    func badUsageIsExitCodeTwoWithTheNearestNames(_ words: [String], _ message: String) async throws {
        let app = try App()
        let run = try await CommandRun.of(["why"] + words + ["--static", "--manifest", app.path])
        #expect(run.status == 2 && run.output == "")
        #expect(run.error.contains(message), "\(run.error)")
    }

    @Test func badManifestIsExitCodeTwo() async throws {
        let app = try App()
        let path = try app.folder.file("bad.yaml", "app: test\nlevls: []\n")
        let run = try await CommandRun.of(["why", "A", "B/c", "--manifest", path])
        #expect(run.status == 2)
        #expect(run.error == "\(path):2: levls: unknown key; did you mean levels?\n")
    }
}
