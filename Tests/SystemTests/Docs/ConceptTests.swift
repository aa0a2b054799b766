import Glibc
import StrataTesting
import TestSupport
import Testing

/// The table of concepts in docs/from-ios.md. Its lines are put together to one app, which runs.
@Suite(.timeLimit(.hang))
struct ConceptTests {
    private static let page = "docs/from-ios.md"

    @Test(.promise("M.90", "I.1")) func eachConceptsLineWorks() throws {
        let concepts = try ConceptTable(Repository.lines(Self.page))
        let folder = try TemporaryFolder()
        let app = try UpProcess(concepts.manifest)
        defer { app.cleanUp() }
        app.owns("shop")
        let said = try SwiftCompiler(folder: folder.path)
            .makeProgram(
                "\(app.folder)/shop", module: "Shop", [folder.file("Shop.swift", concepts.program)], libraries: [])
        try #require(said.isEmpty, "\(said)")
        try app.write("guard.py", ConceptTable.guardProgram, mode: 0o755)
        let python = ["PYTHONPATH": Repository.path("clients/python"), "PYTHONDONTWRITEBYTECODE": "1"]
        try app.start(environment: python.map { "\($0)=\($1)" })
        try app.until { app.said("modules are ready") }
        let (end, output) = try app.strata("call", "Shop/play")
        #expect(end == .exit(0), "\(output)\n\(app.lines)")
        for command in concepts.commands {
            let (end, output) = try app.strata(words: command.words, environment: python)
            #expect(end == .exit(0) && !output.isEmpty, "\(Self.page):\(command.line): \(output)")
        }
        app.signal(SIGINT)
        #expect(try app.ended() == .code(0), "\(app.lines)")
    }

    @Test func eachAncestorHasItsConcepts() throws {
        let concepts = try ConceptTable(Repository.lines(Self.page)).concepts
        #expect(concepts.count > 40)
        for ancestor in ["T", "B", "Z"] { #expect(concepts.count { $0.ancestors.contains(ancestor) } > 10) }
        #expect(Set(concepts.map(\.name)).count == concepts.count)
    }

    @Test func rowsOfAnotherFormAreRefused() throws {
        let table = ["## Concepts", "| concept | in | Strata |", "|---|---|---|"]
        for row in ["| a | T | none |", "| a | X | `env: debug` |", "| a | T | `what is it` |"] {
            #expect(throws: TestFailure.self) { try ConceptTable(table + [row]) }
        }
    }
}

/// The rows of the table, and the app that they make.
struct ConceptTable {
    struct Concept {
        let name: String
        /// The first letters of the frameworks that have it.
        let ancestors: String
        let code: String
        /// The row's line in the page.
        let line: Int
    }

    struct Command {
        let words: [String]
        let line: Int
    }

    /// The keys of a manifest that aren't a row's.
    private static let appKeys: Set = [
        "app", "env", "schemes", "levels", "settings", "launchOptions", "calls", "authorizer", "guests", "adapters",
    ]

    private(set) var concepts: [Concept] = []
    private(set) var commands: [Command] = []
    private var appLines = ""
    private var rowLines = ""
    private var members = ""
    private var exports = ""
    private var statements = ""

    /// Reads the table below the heading `## Concepts`.
    init(_ lines: [String]) throws {
        let from = lines.firstIndex(of: "## Concepts") ?? lines.endIndex
        for (index, line) in lines.enumerated().dropFirst(from + 1).prefix(while: { !$1.hasPrefix("## ") }) {
            let cells = line.split(separator: " | ").map { $0.trimming("| ") }
            guard line.hasPrefix("| "), cells.count == 3, cells[0] != "concept" else { continue }
            try take(cells, index + 1)
        }
    }

    private mutating func take(_ cells: [String], _ line: Int) throws {
        let code = String(cells[2].dropFirst().dropLast())
        guard cells[2].hasPrefix("`"), cells[2].hasSuffix("`"), !code.contains("`"),
            cells[1].split(separator: ", ").allSatisfy({ ["T", "B", "Z"].contains($0) })
        else {
            throw TestFailure(
                "line \(line): expected | concept | T, B, Z | `one line` |; found \(cells)", file: #fileID, line: #line)
        }
        let located = "#sourceLocation(file: \"from-ios.md\", line: \(line))\n\(code)\n#sourceLocation()\n"
        let firstWord = code.prefix { $0 != " " && $0 != ":" && $0 != "(" && $0 != "." }
        switch firstWord {
        case "strata": commands.append(Command(words: Self.words(code.dropFirst(7)), line: line))
        case "exports": exports += located
        case "func", "static": members += located
        case "try", "let", "for", "_": statements += located
        case _ where Self.appKeys.contains(String(firstWord)): appLines += code + "\n"
        case _ where code.contains(": "): rowLines += "    \(code)\n"
        default:
            throw TestFailure(
                "line \(line): `\(code)` is no command, no line of Swift and no key", file: #fileID, line: #line)
        }
        concepts.append(Concept(name: cells[0], ancestors: cells[1], code: code, line: line))
    }

    /// Splits a command at spaces outside of single quotes.
    private static func words(_ text: Substring) -> [String] {
        text.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
    }

    var manifest: String {
        """
        \(appLines)
        modules:
          Guard: {run: [/usr/bin/env, python3, guard.py], level: basic, provides: [Guard]}
          Shop:
        \(rowLines)
        """
    }

    /// The row's program. Its action `Shop/play` does what the lines of the table do.
    var program: String {
        """
        import Strata

        final class CartItems { var names: [String] = [] }

        @main
        final class Shop: Module {
            let bus: Bus
            init(bus: Bus) { self.bus = bus }
            \(members)
            func register(_ exports: inout Exports) {
                exports.action("Shop/play") { [self] _ in
                    try await play()
                    return true
                }
                \(exports)
            }
            private func play() async throws {
                \(statements)
            }
        }

        """
    }

    static let guardProgram = """
        import strata_bus

        module = strata_bus.Module("Guard")


        @module.action("Guard/authorize")
        async def authorize(call: strata_bus.Call) -> object:
            return {"allow": True}


        @module.action("Guard/signIn")
        async def sign_in(call: strata_bus.Call) -> object:
            return {"user": "ada"}


        module.main()

        """
}

extension StringProtocol {
    /// Returns the text without these characters at its ends.
    fileprivate func trimming(_ characters: String) -> String {
        String(self.drop { characters.contains($0) }.reversed().drop { characters.contains($0) }.reversed())
    }
}
