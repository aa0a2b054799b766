import Foundation
import StrataCore
import StrataTesting
import Testing

/// `strata new`, up to the files that it writes. scripts/new-package builds and runs them.
@Suite(.timeLimit(.hang))
struct CommandNewTests {
    private let folder = try! StrataTesting.TemporaryFolder()  // because a test without one has failed anyway

    private func new(_ words: String...) async throws -> CommandRun { try await CommandRun.of(["new"] + words) }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(folder.path)/\(path)", encoding: .utf8)
    }

    @Test func thePackageHasAContractTwoModulesATestAndAManifest() async throws {
        let run = try await new("shop", "--path", "\(folder.path)/a b", "--modules", "Stock", "Front")
        #expect(run.status == 0, "\(run.error)")
        let files = try JSON(parsing: Array(run.output.utf8))["files"]?.array?.compactMap(\.string) ?? []
        #expect(
            files == [
                "Package.swift", "strata.yaml", "strata.schema.json", "README.md",
                "Sources/StockInterface/Stock.swift", "Sources/Stock/StockModule.swift",
                "Sources/Front/FrontModule.swift",
                "Tests/StockTests/StockTests.swift", ".gitignore", ".swift-format",
            ])
        for file in files { #expect(try !text("a b/\(file)").isEmpty) }
        #expect(folder.contents == ["a b"])
    }

    @Test func itsManifestIsGood() async throws {
        _ = try await new("shop", "--path", "\(folder.path)/shop")
        let check = try await CommandRun.of(["check", "--static", "\(folder.path)/shop/strata.yaml"])
        #expect(check.status == 0, "\(check.error)")
    }

    @Test(.promise("M.165"), arguments: [[], ["--python"]])
    func theManifestNamesItsSchemaForEditors(words: [String]) async throws {
        let run = try await CommandRun.of(
            ["new", "shop", "--path", "\(folder.path)/shop"] + words,
            environment: ["PATH": "/usr/local/bin:/usr/bin:/bin"])
        #expect(run.status == 0, "\(run.error)")
        #expect(try text("shop/strata.yaml").hasPrefix("# yaml-language-server: $schema=strata.schema.json\n"))
        let schema = try await CommandRun.of(["schema"]).output
        let isSame = try text("shop/strata.schema.json") == schema
        #expect(isSame && !schema.isEmpty)
    }

    @Test func itDependsOnTheStrataThatWasBuiltOrNamed() async throws {
        let own = try await new("shop", "--path", "\(folder.path)/own")
        let place = try #require(try JSON(parsing: Array(own.output.utf8))["strata"]?.string)
        #expect(#filePath.hasPrefix("\(place)/Tests/"))
        #expect(try text("own/Package.swift").contains(#".package(name: "strata", path: "\#(place)")"#))
        let url = "https://example.org/bus/strata-bus.git"
        _ = try await new("shop", "--path", "\(folder.path)/far", "--strata", url)
        let package = try text("far/Package.swift")
        #expect(package.contains(#".package(url: "\#(url)", branch: "main")"#))
        #expect(package.contains(#".product(name: "Strata", package: "strata-bus")"#))
    }

    @Test(
        .promise("M.87"),
        arguments: [
            (["My App"], "; for instance my-app"), ([""], "1 to 32"), (["9lives"], "a letter first"),
            ([String(repeating: "a", count: 33)], "1 to 32"), (["strata"], "depends on"), (["yams"], "depends on"),
            (["a/b"], "a-b"), (["shop", "--modules", "Stock"], "two names"),
            (["shop", "--modules", "A", "B", "C"], "two names"),
            ([String(repeating: "A", count: 33)], "1 to 32"), (["_"], "1 to 32"), (["Strata"], "strata is the name of"),
            (["shop", "--modules", "stock", "Front"], "a capital first; for instance Stock"),
            (["shop", "--modules", "Stock", "Stock"], "same name"),
            (["shop", "--modules", "Stock", "STOCK"], "same name"),
            (["shop", "--modules", "Stock", "StockInterface"], "same name"),
            (["shop", "--modules", "Bus", "Front"], "else"), (["shop", "--modules", "Stock", "Logging"], "else"),
            (["shop", "--modules", "Self", "Front"], "else"),
            (["shop", "--modules", "My-mod", "Front"], "; for instance MyMod"),
            (["shop", "--modules", "StockRouter", "Front"], "say Stock instead"),
            (["shop", "--strata", "/nowhere"], "No such file"), (["shop", "--strata", "/tmp"], "no package of strata"),
        ])
    func namesThatCanNotBeAreRefused(words: [String], hint: String) async throws {
        let run = try await CommandRun.of(["new"] + words + ["--path", "\(folder.path)/x"])
        #expect(run.status == 2)
        #expect(run.error.hasPrefix("strata: ") && run.error.contains(hint), "\(run.error)")
        #expect(folder.contents.isEmpty)
    }

    @Test(
        .promise("M.87"),
        arguments: [
            ("Shop", "shop"), ("MyApp", "my-app"), ("myApp2Go", "my-app2-go"), ("HTTPServer", "http-server"),
            ("My_App", "my-app"), ("my_app", "my-app"), ("My-App", "my-app"), ("OK", "ok"),
        ])
    func capitalsMakeAValidNameWhichIsSaid(asked: String, name: String) async throws {
        let run = try await new(asked, "--path", "\(folder.path)/x")
        #expect(run.status == 0)
        #expect(run.error == "strata: the app is named \(name), not \(asked): an app's name has only a-z, 0-9 and -\n")
        #expect(try JSON(parsing: run.output)["app"]?.string == name)
        #expect(try text("x/strata.yaml").contains("app: \(name)\n"))
        #expect(try text("x/Package.swift").contains("name: \"\(name)\""))
    }

    @Test(.promise("M.87")) func aValidNameIsLeftAsItIs() async throws {
        let run = try await new("my-app-2", "--path", "\(folder.path)/x")
        #expect(run.status == 0 && run.error == "")
        #expect(try JSON(parsing: run.output)["app"] == "my-app-2")
    }

    @Test func whatIsThereStays() async throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/file"))
        try FileManager.default.createDirectory(atPath: "\(folder.path)/empty", withIntermediateDirectories: false)
        for place in ["file", "empty", "empty/"] {
            let run = try await new("shop", "--path", "\(folder.path)/\(place)")
            #expect(run.status == 2)
            #expect(run.error.contains("already exists"), "\(run.error)")
        }
        #expect(try text("file") == "mine")
        #expect(Set(folder.contents) == ["file", "empty"])
        let inside = try await new("shop", "--path", "\(folder.path)/file/x")
        #expect(inside.status == 2)
        let nowhere = try await new("shop", "--path", "\(folder.path)/none/x")
        #expect(nowhere.status == 2 && nowhere.error.contains("No such file"), "\(nowhere.error)")
    }

    @Test func nothingHalfWrittenIsLeft() throws {
        // Files end at 512 bytes, so Package.swift doesn't fit.
        let shell = try ChildProgram(
            "/bin/sh",
            [
                "-c", #"trap "" XFSZ; ulimit -f 1; exec "$0" new shop --path "$1/x""#,
                try BuiltExecutable.path("strata"), folder.path,
            ])
        #expect(try shell.wait() == .exit(2))
        #expect(shell.outputText.contains("Package.swift can't be written: File too large"), "\(shell.outputText)")
        #expect(folder.contents.isEmpty)
    }
}
