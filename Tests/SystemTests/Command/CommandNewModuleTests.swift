import Foundation
import Glibc
import StrataCore
import StrataTesting
import Testing

/// `strata new module`, and `strata new --python`. scripts/new-package builds a module in Swift.
@Suite(.timeLimit(.hang))
struct CommandNewModuleTests {
    private let folder = try! StrataTesting.TemporaryFolder()  // because a test without one has failed anyway
    private var app: String { "\(folder.path)/shop" }

    /// With the programs that `env` and the bundle need.
    private static let environment = [
        "PATH": (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"), "NO_COLOR": "1",
        "MEMORY_PRESSURE_WATCH": "/dev/null",
    ]

    private func new(_ words: String...) async throws -> CommandRun {
        try await CommandRun.of(["new"] + words, environment: Self.environment)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(app)/\(path)", encoding: .utf8)
    }

    private func write(_ text: String, to path: String) throws {
        try text.write(toFile: "\(app)/\(path)", atomically: false, encoding: .utf8)
    }

    /// All files of the app with their contents.
    private func files() throws -> [String: String] {
        var files: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: app) {
            files[path] = (try? text(path)) ?? "a folder"
        }
        return files
    }

    @Test(.promise("W.10")) func aModuleInSwiftHasSourcesTargetsARowAndATest() async throws {
        _ = try await new("shop", "--path", app)
        let before = try files()
        let run = try await new("module", "Depot", "--path", app)
        #expect(run.status == 0, "\(run.error)")
        let added = [
            "Sources/DepotInterface/Depot.swift", "Sources/Depot/DepotModule.swift",
            "Tests/DepotTests/DepotTests.swift",
        ]
        let told = try JSON(parsing: run.output)["files"]?.array?.compactMap(\.string)
        #expect(told == added + ["Package.swift", "strata.yaml"])
        for file in added { #expect(try text(file).contains("Depot")) }
        let targets = """
                            .product(name: "StrataTesting", package: "strata"),
                        ]),

                    // The contract of Depot, its program, and its tests.
                    .target(name: "DepotInterface", dependencies: [strata]),
                    .executableTarget(name: "Depot", dependencies: ["DepotInterface", strata]),
                    .testTarget(
                        name: "DepotTests",
                        dependencies: ["Depot", .product(name: "StrataTesting", package: "strata")]),
                ],
                swiftLanguageModes: [.v6]
            """
        let package = try text("Package.swift")
        #expect(package.contains(targets), "\(package)")
        let row = "\n  Depot:\n    level: topout\n    run: [.build/debug/Depot]\n    provides: [Depot]\n"
        #expect(try text("strata.yaml") == (before["strata.yaml"] ?? "") + row)
        let check = try await CommandRun.of(["check", "--static", "\(app)/strata.yaml"])
        #expect(check.status == 0, "\(check.error)")
        let basic = try await new("module", "Attic", "--path", app, "--level", "basic")
        #expect(basic.status == 0)
        #expect(
            try text("strata.yaml").hasSuffix(
                "\n  Attic:\n    level: basic\n    run: [.build/debug/Attic]\n    provides: [Attic]\n"))
    }

    @Test(
        .promise("W.11"),
        arguments: [
            (["Greeter"], "has a row Greeter already"), (["GreeterInterface"], "has the name GreeterInterface already"),
            (["GreeterTests"], "has the name GreeterTests already"), (["depot"], "a capital first; for instance Depot"),
            (["Bus"], "means something else"), (["../Depot"], "a capital first"), ([], "Say the module's name"),
            (["Depot", "--level", "topuot"], "Did you mean topout?"),
            (["Depot", "--modules", "A", "B"], "leave it out"),
            (["Json", "--python"], "json.py would hide Python's own module json"),
        ])
    func namesThatExistOrCanNotBeAreRefused(words: [String], hint: String) async throws {
        _ = try await new("shop", "--path", app)
        let before = try files()
        let run = try await CommandRun.of(["new", "module"] + words + ["--path", app], environment: Self.environment)
        #expect(run.status == 2 && run.error.contains(hint), "\(run.error)")
        #expect(try files() == before)
    }

    @Test(.promise("W.11")) func whatIsThereStaysAndNothingElseIsWritten() async throws {
        _ = try await new("shop", "--path", app)
        mkdir("\(app)/Tests/DepotTests", 0o777)
        try write("mine", to: "Tests/DepotTests/DepotTests.swift")
        let before = try files()
        let run = try await new("module", "Depot", "--path", app)
        #expect(run.status == 2 && run.error.contains("DepotTests.swift already exists"), "\(run.error)")
        #expect(try files() == before)
        let nowhere = try await new("module", "Depot", "--path", folder.path)
        #expect(nowhere.status == 2 && nowhere.error.contains("strata.yaml isn't there"), "\(nowhere.error)")
    }

    @Test(
        .promise("W.11"),
        arguments: [
            ("targets: list + [", "has no list targets: [ … ] in Package( … )"),
            ("// targets: [\n    others: [", "has no list targets: [ … ] in Package( … )"),
        ])
    func withoutAPlaceForTargetsItSaysWhatToAdd(begin: String, reason: String) async throws {
        _ = try await new("shop", "--path", app)
        try write(try text("Package.swift").replacing("targets: [", with: begin), to: "Package.swift")
        let before = try files()
        let run = try await new("module", "Depot", "--path", app)
        #expect(run.status == 2 && run.error.contains(reason), "\(run.error)")
        #expect(
            run.error.contains(
                "\n    .executableTarget(name: \"Depot\", dependencies: [\"DepotInterface\", strata]),\n"))
        #expect(try files() == before)
        try write("let package = Package(name: \"shop\", targets: [])", to: "Package.swift")
        let apart = try await new("module", "Depot", "--path", app)
        #expect(apart.status == 2 && apart.error.contains("doesn't depend on the product Strata"), "\(apart.error)")
    }

    /// Other lists of that name, brackets in strings and comments don't matter.
    @Test(
        .promise("W.10"),
        arguments: [
            ("targets: [.target(name: \"A\")] // ]", "targets: [.target(name: \"A\"),\n\nNEW\n    ] // ]"),
            ("targets: [\n\n    ] + more", "targets: [\nNEW\n\n    ] + more"),
            (
                "targets: [\n  a(\"]\"), /* ] */\n  b // last ]\n  ]",
                "targets: [\n  a(\"]\"), /* ] */\n  b, // last ]\n\nNEW\n  ]"
            ),
            ("targets: [\n  a,\n]", "targets: [\n  a,\n\nNEW\n]"),
        ])
    func targetsComeAtTheEndOfTheList(list: String, after: String) async throws {
        _ = try await new("shop", "--path", app)
        let head = """
            let strata = Target.Dependency.product(name: "Strata", package: "strata")
            let other = [Package.Dependency]()
            let package = Package(
                name: "x) targets: [", products: [.library(name: "L", targets: ["A"])],
                \("")
            """
        try write(head + list + ")\n", to: "Package.swift")
        let run = try await new("module", "Depot", "--path", app)
        #expect(run.status == 0, "\(run.error)")
        let added = """
                    // The contract of Depot, its program, and its tests.
                    .target(name: "DepotInterface", dependencies: [strata]),
                    .executableTarget(name: "Depot", dependencies: ["DepotInterface", strata]),
                    .testTarget(
                        name: "DepotTests",
                        dependencies: ["Depot", .product(name: "StrataTesting", package: "strata")]),
            """
        #expect(try text("Package.swift") == head + after.replacing("NEW", with: added) + ")\n")
    }

    @Test(.promise("W.11")) func nothingHalfWrittenIsLeft() async throws {
        _ = try await new("shop", "--path", app)
        let before = try files()
        // Files end at 512 bytes: the contract fits, the module's source doesn't.
        let shell = try ChildProgram(
            "/bin/sh",
            [
                "-c", #"trap "" XFSZ; ulimit -f 1; exec "$0" new module Depot --path "$1""#,
                try BuiltExecutable.path("strata"), app,
            ])
        #expect(try shell.wait() == .exit(2))
        #expect(shell.outputText.contains("can't be written: File too large"), "\(shell.outputText)")
        #expect(try files() == before)
    }

    @Test(.promise("W.12"), .enabled(if: python)) func anAppInPythonPassesItsTests() async throws {
        let run = try await new("shop", "--python", "--path", app, "--modules", "Stock", "Front")
        #expect(run.status == 0, "\(run.error)")
        #expect(
            Set(try files().keys) == [
                "strata.yaml", "strata.schema.json", "README.md", "stock.py", "front.py", "test_stock.py",
                "strata_bus.py", ".gitignore",
            ])
        let check = try await CommandRun.of(["check", "\(app)/strata.yaml"], environment: Self.environment)
        #expect(check.status == 0, "\(check.error)")
        let module = try await new("module", "Depot", "--python", "--path", app)
        #expect(module.status == 0, "\(module.error)")
        #expect(
            try text("strata.yaml").hasSuffix(
                "\n\n  Depot:\n    level: topout\n    run: [depot.py]\n    provides: [Depot]\n"))
        let tests = try await CommandRun.of(
            [
                "test", "\(app)/strata.yaml", "--play", "Front", "--", "python3", "-m", "unittest", "discover", "-s",
                app,
            ], environment: Self.environment)
        #expect(tests.status == 0 && tests.error.contains("Ran 4 tests"), "\(tests.error)")
        let visit = try await CommandRun.of(
            [
                "test", "\(app)/strata.yaml", "--", CommandRun.executable.path, "call", "Front/visit",
                #"{"who": "Bo"}"#,
            ], environment: Self.environment)
        #expect(visit.output == "{\"text\":\"Hello, Bo.\",\"count\":1}\n", "\(visit.error)")
    }

    private static let python =
        ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").contains {
            access("\($0)/python3", X_OK) == 0
        } == true
}
