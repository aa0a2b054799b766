import Glibc
import StorageInterface
import Testing

@testable import PackageDatabase

@Suite final class PackageDatabaseTests {
    let path = "/tmp/strata-packages-\(Int.random(in: 0..<Int.max)).sqlite"
    let database: PackageDatabase

    init() throws { database = try PackageDatabase(path: path) }

    deinit { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }

    func fill(_ packages: [Package], stamp: String = "1") throws -> Storage.CompleteImport.Reply? {
        let number = try #require(try database.beginImport(stamp: stamp))
        try database.put(packages, number: number)
        return try database.completeImport(number)
    }

    func package(_ name: String, _ summary: String = "", _ description: String = "") -> Package {
        Package(name: name, version: "1", architecture: "all", summary: summary, description: description)
    }

    @Test func pagesGoOnToTheEnd() throws {
        _ = try fill(["c", "a", "b", "d", "é"].map { package($0) })
        var after: String?
        var names: [[String]] = []
        repeat {
            let page = try database.page(after: after, limit: 2)
            names.append(page.packages.map(\.name))
            after = page.next
        } while after != nil
        #expect(names == [["a", "b"], ["c", "d"], ["é"]])
        #expect(try database.page(after: "é", limit: 2).packages.isEmpty)
        #expect(try database.page(after: nil, limit: 5).next == nil)
    }

    @Test func findsAllMembersAgain() throws {
        var bash = package("bash", "a shell", "long")
        bash.section = "shells"
        bash.maintainer = "Ondřej"
        bash.homepage = "https://example.org"
        bash.depends = "libc6"
        bash.installedSize = 7
        _ = try fill([bash, package("x")])
        #expect(try database.find("bash") == bash)
        #expect(try database.find("x") == package("x"))
        #expect(try database.find("y") == nil)
    }

    @Test func importReplacesWhatWasThere() throws {
        #expect(try fill(["a", "b"].map { package($0, "old") }) == .init(packages: 2, removed: 0))
        #expect(try database.beginImport(stamp: "1") == nil)
        #expect(try fill(["b", "c", "d"].map { package($0, "new") }, stamp: "2") == .init(packages: 3, removed: 1))
        #expect(try database.search("old", limit: 10, offset: 0).total == 0)
        #expect(try database.search("new", limit: 10, offset: 0).total == 3)
        #expect(try database.completeImport(1) == nil)
        #expect(try database.counts() == .init(packages: 3, notes: 0))
    }

    @Test func importLeftHalfwayRemovesNothing() throws {
        _ = try fill(["a", "b"].map { package($0) })
        let number = try #require(try database.beginImport(stamp: "2"))
        try database.put([package("c")], number: number)
        #expect(try database.counts().packages == 3)
        // The same stamp again: it was never complete.
        #expect(try database.beginImport(stamp: "2") != nil)
    }

    @Test func searchFindsWordsWhereverTheyStand() throws {
        _ = try fill([
            package("vim", "Vi IMproved - enhanced vi editor"),
            package("editor-tools", "nothing else"),
            package("other", "a thing", "One of the editors."),
            package("cafe", "Ein Café für 陳昌倬"),
            package("g++", "GNU C++ compiler"),
        ])
        func names(_ text: String) throws -> [String] {
            try database.search(text, limit: 10, offset: 0).packages.map(\.name)
        }
        #expect(try names("editor").first == "editor-tools")
        #expect(try Set(names("EDITOR")) == ["vim", "editor-tools", "other"])
        #expect(try names("enhan edit") == [])
        #expect(try names("enhanced edit") == ["vim"])
        #expect(try names("café") == ["cafe"])
        #expect(try names("CAFE") == ["cafe"])
        #expect(try names("陳昌倬") == ["cafe"])
        #expect(try names("g++") == ["g++"])
        #expect(try database.search("editor", limit: 1, offset: 1).packages.count == 1)
        #expect(try database.search("editor", limit: 1, offset: 1).total == 3)
    }

    @Test(arguments: [
        "", " ", "\"", "\"\"", "*", "a*", "a AND", "NOT", "NEAR(a b)", "name:a", "(", "a) OR (b", "^a", "- a", "{a}: b",
        "a\0b", "+", "'; DROP TABLE package; --", "\u{1F600}", "\u{FFFF}", "a\"b", "--",
    ])
    func searchTakesAnyText(_ text: String) throws {
        _ = try fill([package("a", "b")])
        _ = try database.search(text, limit: 10, offset: 0)
        #expect(try database.counts().packages == 1)
    }

    @Test func notesAreOnPackagesThatThereAre() throws {
        _ = try fill(["a", "b"].map { package($0) })
        let first = try #require(try database.addNote(on: "a", "eins – “zwei”", by: "ada"))
        _ = try database.addNote(on: "a", "drei", by: "grace")
        #expect(try database.addNote(on: "c", "x", by: "ada") == nil)
        #expect(first.at.count == 20)
        #expect(try database.notes(on: "a", limit: 9).map(\.text) == ["eins – “zwei”", "drei"])
        #expect(try database.notes(on: nil, limit: 9).first == first)
        #expect(try database.notes(on: "b", limit: 9).isEmpty)
        #expect(try database.strayNotes(limit: 9).isEmpty)
        #expect(try database.notes(on: "a", limit: 1).map(\.text) == ["drei"])
        _ = try fill([package("b")], stamp: "2")
        #expect(try database.strayNotes(limit: 9).map(\.text) == ["drei", "eins – “zwei”"])
    }

    @Test func snapshotStaysAsItWas() throws {
        _ = try fill(["a", "b", "c"].map { package($0) })
        _ = try database.addNote(on: "a", "n", by: "ada")
        var snapshot = try database.snapshot()
        var names = try #require(try snapshot.next(2)).packages.map(\.name)
        _ = try fill([package("d")], stamp: "2")
        names += try #require(try snapshot.next(2)).packages.map(\.name)
        #expect(names == ["a", "b", "c"])
        #expect(try snapshot.next(2)?.notes.map(\.text) == ["n"])
        #expect(try snapshot.next(2) == nil)
    }

    @Test func dataAreThereAfterOpeningAgain() throws {
        _ = try fill([package("a")])
        let again = try PackageDatabase(path: path)
        #expect(try again.counts().packages == 1)
        #expect(try again.beginImport(stamp: "1") == nil)
    }
}
