import Foundation
import StrataTesting
import TestSupport
import Testing

/// What `strata package` packs of an app's folder, and what it keeps out.
@Suite(
    .timeLimit(.hang),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/dpkg-deb"), "this machine has no dpkg"))
struct PackagedFilesTests {
    private let folder = try! StrataTesting.TemporaryFolder()  // because a test without one has failed anyway

    private func write(rows: String, to name: String = "strata.yaml") throws {
        try folder.write("app/\(name)", "app: packed\nmodules:\n\(rows)")
    }

    /// Packs the app, as a user whose new files nobody else may read.
    private func package(_ name: String = "strata.yaml") throws -> (end: ChildProgram.End, said: String) {
        let program = try ChildProgram(
            "/bin/sh",
            [
                "-c", "umask 077; exec \"$0\" \"$@\"", try BuiltExecutable.path("strata"), "package",
                "\(folder.path)/app/\(name)", "--output", folder.path,
            ], environment: ["PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": "1700000000"])
        return (try program.wait(), program.outputText)
    }

    private var package: String { "\(folder.path)/strata-app-packed_1.0_all.deb" }

    /// What dpkg-deb prints about the package.
    private func shown(_ words: String...) throws -> String {
        let program = try ChildProgram("/usr/bin/dpkg-deb", [words[0], package] + words.dropFirst())
        #expect(try program.wait() == .exit(0))
        return program.outputText
    }

    /// The package's files, without folders, links and what Debian wants of each package.
    private func listed() throws -> [String] {
        try shown("-c").split(separator: "\n")
            .filter { !$0.hasSuffix("/") && !$0.contains(" -> ") && !$0.contains("./usr/share/") }
            .compactMap { line in line.firstRange(of: "./").map { String(line[$0.upperBound...]) } }
    }

    @Test(.promise("M.161"), arguments: ["../other/x", "bin/../../other/x", "../../../../../../../../../bin/true"])
    func aPathThatLeadsOutOfTheFolderIsRefused(path: String) throws {
        try folder.write("other/x", "#!/bin/sh\n", mode: 0o755)
        try folder.write("app/bin/y")
        try write(rows: "  A: {run: [\(path)]}\n")
        let run = try package()
        #expect(run.end == .exit(2) && run.said.contains("A: \(path) leads out of \(folder.path)/app"), "\(run.said)")
        #expect(!folder.contents.contains { $0.hasSuffix(".deb") })
    }

    @Test(.promise("M.161")) func whatAProgramMayWriteOrKeepSecretStaysOut() throws {
        try write(rows: "  A: {run: [bin/a, a.sqlite, key.pem]}\n")
        try folder.write("app/bin/a", "#!/bin/sh\n", mode: 0o755)
        try folder.write("app/a.sqlite")
        try folder.write("app/key.pem", mode: 0o600)
        let run = try package()
        #expect(
            run.said == """
                not packed: \(folder.path)/app/a.sqlite
                not packed: \(folder.path)/app/key.pem
                \(package)

                """)
        #expect(try listed() == ["etc/strata/packed/strata.yaml", "usr/lib/strata/packed/bin/a"])
        // The user's mask doesn't close folders to everybody else.
        #expect(
            try shown("-c").split(separator: "\n").allSatisfy {
                $0.dropFirst(4).hasPrefix("r-xr-x") || $0.hasPrefix("-rw-r--r--") || $0.hasPrefix("l")
            })
    }

    @Test(.promise("M.161")) func pythonBringsItsPackagesAndNeedsTheClientIfItImportsIt() throws {
        try write(rows: "  A: {run: [src/a]}\n  B: {run: [/usr/bin/env, python3, own/b.py]}\n")
        try folder.write("app/src/a", "#!/usr/bin/env python3\nimport parts.inner\n", mode: 0o755)
        for name in ["parts/__init__.py", "parts/inner/__init__.py", "parts/inner/c.py", "loose/d.py", ".x/e.py"] {
            try folder.write("app/src/\(name)")
        }
        try folder.write("app/own/b.py", "import asyncio\n")
        #expect(try package().end == .exit(0))
        let library = "usr/lib/strata/packed"
        #expect(
            try listed().sorted() == [
                "etc/strata/packed/strata.yaml", "\(library)/own/b.py", "\(library)/src/a",
                "\(library)/src/parts/__init__.py", "\(library)/src/parts/inner/__init__.py",
                "\(library)/src/parts/inner/c.py",
            ])
        #expect(try shown("-f", "Depends") == "strata (>= 0.1.0), python3\n")
        try folder.write("app/own/b.py", "from strata_bus import Module\n")
        #expect(try package().end == .exit(0))
        #expect(try shown("-f", "Depends") == "strata (>= 0.1.0), python3, python3-strata-bus\n")
        try folder.write("app/own/strata_bus.py")
        #expect(try package().end == .exit(0))
        #expect(try shown("-f", "Depends") == "strata (>= 0.1.0), python3\n")
    }

    @Test(.promise("M.161")) func thePackageSaysWhoHasTheRightsAndWhatHasChanged() throws {
        try write(rows: "  A: {run: [a]}\n")
        try folder.write("app/a", "#!/bin/sh\n", mode: 0o755)
        let unpacked = "\(folder.path)/unpacked", documents = "\(unpacked)/usr/share/doc/strata-app-packed"
        #expect(try package().end == .exit(0))
        _ = try shown("-x", unpacked)
        let copyright = try String(contentsOfFile: "\(documents)/copyright", encoding: .utf8)
        #expect(copyright.contains("Copyright 2023 the makers of packed."))
        let changes = try ChildProgram("/usr/bin/env", ["gzip", "-dc", "\(documents)/changelog.gz"])
        #expect(try changes.wait() == .exit(0))
        #expect(
            changes.outputText == """
                strata-app-packed (1.0) unstable; urgency=medium

                  * Packed by strata package.

                 -- The makers of packed <root@localhost>  Tue, 14 Nov 2023 22:13:20 +0000

                """)
        try folder.write("app/LICENSE", "Copyright 2026 Ada\n")
        #expect(try package().end == .exit(0))
        _ = try shown("-x", unpacked)
        #expect(try String(contentsOfFile: "\(documents)/copyright", encoding: .utf8) == "Copyright 2026 Ada\n")
    }

    @Test(.promise("M.161")) func theManifestHasTheUnitsNameAndThePackageIsTheSameEachTime() throws {
        try write(rows: "  A: {run: [a]}\n", to: "other.yaml")
        try folder.write("app/a", "#!/bin/sh\n", mode: 0o755)
        #expect(try package("other.yaml").end == .exit(0))
        #expect(try listed() == ["etc/strata/packed/strata.yaml", "usr/lib/strata/packed/a"])
        #expect(try shown("-I", "md5sums").contains("  usr/lib/strata/packed/a\n"))
        #expect(try shown("-I", "conffiles") == "/etc/strata/packed/strata.yaml\n")
        let first = try Data(contentsOf: URL(fileURLWithPath: package))
        #expect(try package("other.yaml").end == .exit(0))
        let isSame = try Data(contentsOf: URL(fileURLWithPath: package)) == first
        #expect(isSame)
    }
}
