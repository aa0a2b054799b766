import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// `strata introspect` and `strata contracts`, for a program that describes its types.
@Suite(.timeLimit(.hang))
struct CommandContractsTests {
    private let folder: TemporaryFolder

    private static let contract = #"""
        {"contract":1,"interface":"Shelf","version":"1.2","actions":{"find":{"params":{"type":"object",\#
        "properties":{"title":{"type":"string"},"limit":{"type":"integer"}},"required":["title"]},\#
        "reply":{"type":"array","items":{"$ref":"#/$defs/Book"}},"errors":{"Shelf.closed":\#
        {"description":"It is closed."}}}},\#
        "$defs":{"Book":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}}
        """#

    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.file("strata.yaml", "app: test\nmodules:\n  Library: {run: [library], provides: [Shelf]}\n")
        try describe(Self.contract)
    }

    /// Writes the program, which provides an interface with this contract.
    private func describe(_ contract: String) throws {
        let description = #"""
            {"protocol":1,"module":"Library","interfaces":{"Shelf":{"actions":{"find":{}}}},"contracts":{"module":\#
            {"contract":1,"module":"Library"},"provides":[\#(contract)],"requires":[],"types":\#
            {"/provides/0":"Books.Shelf","/provides/0/actions/find":"Books.Shelf.Find",\#
            "/provides/0/$defs/Book":"Books.Book"}}}
            """#
        try library("[ \"$1\" = --describe ] && cat <<'END'\n\(description)\nEND")
    }

    private func library(_ script: String) throws {
        let path = try folder.file("library", "#!/bin/sh\n\(script)\n")
        #expect(chmod(path, 0o755) == 0)
    }

    private func strata(_ arguments: String...) async throws -> CommandRun {
        // The commands look for strata.yaml in their folder, which tests share.
        try await Self.shown(arguments + ["--manifest", folder.path + "/strata.yaml"])
    }

    /// Runs the command for a person at a terminal.
    private static func shown(_ arguments: [String]) async throws -> CommandRun {
        var run = try await CommandRun.of(
            arguments, environment: ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"], output: .terminal(columns: 120))
        run.output.replace("\r\n", with: "\n")
        return run
    }

    private func text(_ name: String) throws -> String {
        let file = try #require(fopen(folder.path + "/" + name, "r"), "there is no \(name)")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: introspect

    @Test func anInterfaceIsShownAsSignatures() async throws {
        let run = try await strata("introspect", "Shelf")
        #expect(
            run.output == """
                Shelf 1.2

                find(title: string, limit?: integer) → Book[]
                    error Shelf.closed: It is closed.

                Book
                    title: string

                """, "\(run)")
        let action = try await strata("introspect", "Shelf/find")
        #expect(action.lines.first == "find(title: string, limit?: integer) → Book[]", "\(action)")
        let document = try await strata("introspect", "Shelf/find", "--json").output
        #expect(try JSON(parsing: document) == JSON(parsing: Self.contract))
    }

    @Test func whatIsNotThereIsNamedWithTheNearest() async throws {
        let action = try await strata("introspect", "Shelf/fnd")
        #expect(action.status == 1 && action.error.contains("unknown-action: Shelf has no action fnd"))
        #expect(action.error.contains("Shelf/find"))
        let interface = try await strata("introspect", "Shlf")
        #expect(interface.status == 1 && interface.error.contains("unknown-interface: no program of"))
        #expect(interface.error.contains("Shelf"))
    }

    // MARK: export

    @Test func exportWritesWhatHasChanged() async throws {
        let out = folder.path + "/out"
        let first = try await strata("contracts", "export", out)
        #expect(first.output == "wrote \(out)/Shelf.json\n", "\(first)")
        #expect(try JSON(parsing: text("out/Shelf.json")) == JSON(parsing: Self.contract))
        #expect(try await strata("contracts", "export", out).output == "")
        #expect(try await strata("contracts", "export", out, "--check").status == 0)
        try describe(Self.contract.replacing("1.2", with: "1.3"))
        let stale = try await strata("contracts", "export", out, "--check")
        #expect(stale.status == 1 && stale.error.contains("not up to date: \(out)/Shelf.json"), "\(stale)")
        #expect(stale.error.contains("run this command without --check"))
        #expect(try text("out/Shelf.json").contains("1.2"))
        #expect(try await strata("contracts", "export", out).output == "wrote \(out)/Shelf.json\n")
        _ = try folder.file("out/Gone.json", Self.contract)
        #expect(try await strata("contracts", "export", out).error.contains("Gone.json is of no program"))
        let left = try await strata("contracts", "export", out, "--check")
        #expect(left.status == 1 && left.error.contains("not up to date: \(out)/Gone.json"), "\(left)")
    }

    @Test(arguments: [("--python", "shelf.py"), ("--swift", "Shelf.swift"), ("--markdown", "Shelf.md")])
    func otherFormatsHaveTheirOwnFiles(format: String, file: String) async throws {
        let out = folder.path + "/out"
        #expect(try await strata("contracts", "export", out, format).output == "wrote \(out)/\(file)\n")
        #expect(try text("out/\(file)").contains("Shelf"))
    }

    @Test func oneInterfaceCanBeExportedAlone() async throws {
        let out = folder.path + "/out"
        #expect(try await strata("contracts", "export", out, "--only", "Shelf").output == "wrote \(out)/Shelf.json\n")
        _ = try folder.file("out/Other.json", "{}")
        #expect(try await strata("contracts", "export", out, "--only", "Shelf", "--check").status == 0)
        let unknown = try await strata("contracts", "export", out, "--only", "Shlf")
        #expect(unknown.status == 1 && unknown.error.contains("no program describes Shlf"), "\(unknown)")
        #expect(unknown.error.contains("Shelf"))
    }

    /// Without the contract of a program that fails, the folder would say that its interfaces are gone.
    @Test func aProgramThatFailsIsTold() async throws {
        try library("kill -ILL $$")
        let run = try await strata("contracts", "export", folder.path + "/out")
        #expect(run.status == 1 && run.error.contains("it crashed"), "\(run)")
        try library("echo no such option >&2; exit 64")
        let silent = try await strata("contracts", "export", folder.path + "/out")
        #expect(silent.status == 1 && silent.error.contains("Library: it did not describe itself"), "\(silent)")
    }

    // MARK: Doc comments

    private static func symbols(_ more: String = "") -> String {
        func symbol(_ path: String, _ text: String) -> String {
            let parts = path.split(separator: ".").map { "\"\($0)\"" }.joined(separator: ",")
            return #"{"pathComponents":[\#(parts)],"location":{},"docComment":{"lines":[{"text":"\#(text)"}]}}"#
        }
        var all = [
            symbol("Shelf", "All books."), symbol("Shelf.Find", "Finds books."), symbol("Book.title", "Its title."),
        ]
        if !more.isEmpty { all.append(more) }
        return #"{"module":{"name":"Books"},"symbols":[\#(all.joined(separator: ","))]}"#
    }

    @Test func symbolGraphsGiveDocComments() async throws {
        _ = try folder.file("Books.symbols.json", Self.symbols())
        let run = try await strata("introspect", "Shelf", "--symbols", folder.path)
        for text in ["Shelf 1.2\n    All books.", "\n    Finds books.", "title: string: Its title."] {
            #expect(run.output.contains(text), "\(text) in \(run)")
        }
        #expect(
            try await strata("contracts", "export", folder.path + "/out", "--symbols", folder.path).output
                == "wrote \(folder.path)/out/Shelf.json\n")
        #expect(try text("out/Shelf.json").contains("\"description\": \"Finds books.\""))
        // Without them the document is another one.
        #expect(try await strata("contracts", "export", folder.path + "/out", "--check").status == 1)
    }

    @Test func aTypeThatReadsItselfByHandIsRefused() async throws {
        _ = try folder.file(
            "Books.symbols.json", Self.symbols(#"{"pathComponents":["Book","init(from:)"],"location":{}}"#))
        let run = try await strata("contracts", "export", folder.path + "/out", "--symbols", folder.path)
        #expect(run.status == 1 && run.error.contains("Books.Book has an `init(from:)` written by hand"), "\(run)")
        #expect(run.error.contains("conform it to ContractDescribing"))
        #expect(access(folder.path + "/out", F_OK) != 0)
    }

    @Test func whatIsNoSymbolGraphIsNamed() async throws {
        let missing = try await strata("introspect", "Shelf", "--symbols", folder.path + "/none")
        #expect(missing.status == 2 && missing.error.contains("/none can't be read: No such file"), "\(missing)")
        let empty = try await strata("introspect", "Shelf", "--symbols", folder.path)
        #expect(empty.status == 2 && empty.error.contains("has no symbol graph, *.symbols.json"), "\(empty)")
        for text in ["{", "{}", #"{"module":{"name":1}}"#] {
            _ = try folder.file("Bad.symbols.json", text)
            let run = try await strata("introspect", "Shelf", "--symbols", folder.path)
            #expect(run.status == 2 && run.error.contains("Bad.symbols.json is no symbol graph: "), "\(run)")
        }
    }

    // MARK: compare

    private func compare(_ old: String, _ new: String, _ more: String...) async throws -> CommandRun {
        let paths = [try folder.file("old.json", old), try folder.file("new.json", new)]
        return try await Self.shown(["contracts", "compare"] + paths + more)
    }

    /// Whether docs/contracts.md has these lines.
    private func isShown(_ output: String) throws -> Bool {
        let lines = output.split(separator: "\n").map { "    \($0)\n" }.joined()
        return try !lines.isEmpty && Repository.text("docs/contracts.md").contains(lines)
    }

    @Test func aVersionHasToSayWhatHasChanged() async throws {
        let contract = Self.contract
        #expect(try await compare(contract, contract).output == "Shelf 1.2 → 1.2: same\n")
        let optional = contract.replacing(
            #""limit":{"type":"integer"}"#, with: #""limit":{"type":"integer"},"author":{"type":"string"}"#)
        let compatible = try await compare(contract, optional)
        #expect(compatible.status == 1 && compatible.lines.count == 2, "\(compatible)")
        #expect(compatible.lines.first?.hasPrefix("Shelf 1.2 → 1.2: compatible; ") == true, "\(compatible)")
        let honest = try await compare(contract, optional.replacing("1.2", with: "1.3"))
        #expect(try honest.status == 0 && isShown(honest.output), "\(honest)")
        let required = optional.replacing(
            #""required":["title"]},"reply""#, with: #""required":["title","author"]},"reply""#)
        let breaking = try await compare(contract, required.replacing("1.2", with: "1.3"))
        #expect(try breaking.status == 1 && isShown(breaking.output), "\(breaking)")
        #expect(try await compare(contract, required.replacing("1.2", with: "2.0")).status == 0)
        let json = try JSON(parsing: try await compare(contract, required, "--json").output)
        #expect(json["contract"] == "Shelf" && json["result"] == "breaking" && json["changes"]?.array?.isEmpty == false)
    }

    @Test func aContractThatIsGoneIsBreaking() async throws {
        for name in ["old", "new"] { #expect(mkdir(folder.path + "/" + name, 0o755) == 0) }
        _ = try folder.file("old/Shelf.json", Self.contract)
        _ = try folder.file("new/Other.json", Self.contract.replacing("\"Shelf\"", with: "\"Other\""))
        let run = try await Self.shown(["contracts", "compare", folder.path + "/old", folder.path + "/new"])
        #expect(run.status == 1 && run.lines == ["Other: new", "Shelf: breaking; the contract is gone"], "\(run)")
    }

    @Test func whatIsNoContractIsNamed() async throws {
        for text in ["", "[", #"{"contract":1}"#, Self.contract.replacing("integer", with: "whole")] {
            let run = try await compare(Self.contract, text)
            #expect(run.status == 2 && run.error.contains("new.json is not a contract: "), "\(run)")
        }
        let missing = try await CommandRun.of(["contracts", "compare", "/nonexistent", "/nonexistent"])
        #expect(missing.status == 2 && missing.error.contains("/nonexistent can't be read"), "\(missing)")
    }
}
