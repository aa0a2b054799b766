import StorageInterface
import Testing

@testable import DpkgStatus

@Suite struct StatusParserTests {
    static let file = """
        Package: bash
        Essential: yes
        Status: install ok installed
        Section: shells
        Installed-Size: 7164
        Maintainer: Matthias Klose <doko@debian.org>
        Architecture: amd64
        Version: 5.2.15-2+b8
        Depends: base-files (>= 2.1.12),
         debianutils (>= 5.6-0.1)
        Conffiles:
         /etc/bash.bashrc 89269e1298235f1b12b4c16e4065ad0d
        Description: GNU Bourne Again SHell
         Bash is an sh-compatible command language interpreter.
         .
           Indented – with a dash.
        Homepage: http://tiswww.case.edu/php/chet/bash/bashtop.html

        Package: gone
        Status: deinstall ok config-files
        Version: 1

        Package: libc6
        Status: install ok installed
        Architecture: amd64
        Version: 2.36

        Package: libc6
        Status: install ok installed
        Architecture: i386
        Version: 2.36

        """

    func parse(_ text: String, pieces: Int) -> [Package] {
        var parser = StatusParser()
        var packages: [Package] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
            packages += piece.withUnsafeBytes { parser.parse($0) }
        }
        if let last = parser.finish() { packages.append(last) }
        return packages
    }

    @Test(arguments: [1, 2, 7, 64, 1 << 20])
    func readsInAnyPieces(_ pieces: Int) throws {
        let packages = parse(Self.file, pieces: pieces)
        #expect(packages.map(\.name) == ["bash", "libc6", "libc6:i386"])
        var bash = Package(
            name: "bash", version: "5.2.15-2+b8", architecture: "amd64", summary: "GNU Bourne Again SHell",
            description: "Bash is an sh-compatible command language interpreter.\n\n  Indented – with a dash.")
        bash.section = "shells"
        bash.maintainer = "Matthias Klose <doko@debian.org>"
        bash.homepage = "http://tiswww.case.edu/php/chet/bash/bashtop.html"
        bash.depends = "base-files (>= 2.1.12), debianutils (>= 5.6-0.1)"
        bash.installedSize = 7164
        #expect(packages.first == bash)
    }

    @Test func lastPackageNeedsNoEmptyLineBehindIt() {
        #expect(parse("Package: a\nStatus: install ok installed\nVersion: 1", pieces: 100).map(\.name) == ["a"])
        #expect(parse("Package: a\nStatus: install ok installed\nVersion: 1\n", pieces: 100).map(\.name) == ["a"])
    }

    @Test func fieldNamesMayBeInAnyCase() {
        #expect(parse("PACKAGE: a\nstatus: install ok installed\nvErsion: 1", pieces: 100).map(\.version) == ["1"])
    }

    @Test func passesOverWhatIsNoPackage() {
        #expect(parse("", pieces: 1).isEmpty)
        #expect(parse("\n\n \n\t\n", pieces: 1).isEmpty)
        #expect(parse(" more\nno field\n: empty\nPackage:\nVersion: 1\n\nPackage: a\n\n", pieces: 3).isEmpty)
        #expect(parse("no field\n and more\nPackage: a\nStatus: a b installed\nVersion: 1", pieces: 3).count == 1)
    }

    @Test func bytesThatAreNoTextAreReplaced() {
        var parser = StatusParser()
        var bytes = Array("Package: a\nStatus: install ok installed\nVersion: 1\nDescription: x".utf8)
        bytes += [0xFF, 0x0A, 0x0A]
        #expect(bytes.withUnsafeBytes { parser.parse($0) }.map(\.summary) == ["x\u{FFFD}"])
    }

    @Test func whatIsTooLongIsCut() {
        let lines = String(repeating: " " + String(repeating: "d", count: 1_000) + "\n", count: 100)
        let text =
            "Package: a\nStatus: install ok installed\nVersion: 1\nDescription: "
            + String(repeating: "s", count: StatusParser.longestLine * 2) + "\n" + lines
        let package = parse(text, pieces: 4_096).first
        #expect((package?.summary.utf8.count ?? 0) < StatusParser.longestLine)
        #expect((package?.description.utf8.count ?? 0) <= StatusParser.longestDescription)
        #expect(package?.description.hasPrefix("ddd") == true)
    }

    @Test func readsAFileBatchByBatch() throws {
        let path = "/tmp/strata-status-\(Int.random(in: 0..<Int.max))"
        #expect(throws: StatusFileError.self) { try StatusFile(path: path) }
        do { _ = try StatusFile(path: path) } catch { #expect(error.isMissing) }
        try Self.write(Self.file, to: path)
        defer { Self.remove(path) }
        var file = try StatusFile(path: path)
        defer { file.close() }
        #expect(file.stamp.hasPrefix("\(path) \(Self.file.utf8.count) "))
        #expect(try file.next(2).map(\.name) == ["bash", "libc6"])
        #expect(try file.next(2).map(\.name) == ["libc6:i386"])
        #expect(try file.next(2).isEmpty)
    }
}
