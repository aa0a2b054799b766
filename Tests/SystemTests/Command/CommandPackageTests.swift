import Foundation
import StrataTesting
import TestSupport
import Testing

/// `strata package`, in a folder with an app of scripts.
@Suite(.timeLimit(.hang))
struct CommandPackageTests {
    private let folder = try! StrataTesting.TemporaryFolder()  // because a test without one has failed anyway

    private func make(_ rows: String) throws {
        try folder.write("app/more.yaml", rows)
        try folder.write("app/strata.yaml", "app: packed\ninclude: [more.yaml]\n")
    }

    private func package(_ words: String...) throws -> (end: ChildProgram.End, said: String) {
        let program = try ChildProgram(
            try BuiltExecutable.path("strata"),
            ["package", "\(folder.path)/app/strata.yaml", "--output", folder.path] + words,
            environment: ["PATH": "/usr/bin:/bin"])
        return (try program.wait(), program.outputText)
    }

    /// What a tool of Debian prints about a package.
    private func shown(_ words: String...) throws -> String {
        let program = try ChildProgram("/usr/bin/env", words, environment: ["PATH": "/usr/bin:/bin"])
        #expect(try program.wait() == .exit(0))
        return program.outputText
    }

    private func skipWithoutDpkg() throws {
        let tools = ["dpkg-deb", "dpkg-shlibdeps"].map { "/usr/bin/\($0)" }
        guard tools.allSatisfy(FileManager.default.isExecutableFile) else {
            try Test.cancel("this machine has no dpkg-dev")
        }
    }

    @Test(.promise("M.161")) func thePackageHasTheManifestAndWhatTheRowsRun() throws {
        try skipWithoutDpkg()
        try make(
            """
              Store: {run: [bin/store, "--fast"]}
              Cart: {run: [/usr/bin/python3, cart/main.py], folder: cart/..}
              Hand: {start: manual}

            """)
        try folder.write("app/bin/store", "#!/bin/sh\n", mode: 0o755)
        for name in ["cart/main.py", "cart/parts.py", "cart/notes.txt", "data/a/b.json", "data/.hidden"] {
            try folder.write("app/\(name)")
        }
        // A link to a folder above would be followed without end.
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/app/data/a/up", withDestinationPath: "..")
        let run = try package("--version", "1.2~rc1", "--include", "\(folder.path)/app/data")
        let path = "\(folder.path)/strata-app-packed_1.2~rc1_all.deb"
        #expect(run.end == .exit(0) && run.said == "not packed: /usr/bin/python3\n\(path)\n", "\(run.said)")
        let library = "./usr/lib/strata/packed"
        let listed = try shown("dpkg-deb", "-c", path).split(separator: "\n").filter {
            !$0.hasSuffix("/") && !$0.contains("./usr/share/")
        }
        let files = listed.compactMap { line in line.firstRange(of: "./").map { String(line[$0.lowerBound...]) } }
        let packed = ["bin/store", "cart/main.py", "cart/parts.py", "data/a/b.json"]
        #expect(
            Set(files)
                == Set(
                    ["./etc/strata/packed/more.yaml", "./etc/strata/packed/strata.yaml"]
                        + packed.map { "\(library)/\($0)" }
                        + packed.map { "./etc/strata/packed/\($0) -> /usr/lib/strata/packed/\($0)" }))
        #expect(listed.contains { $0.hasPrefix("-rwxr-xr-x root/root") && $0.hasSuffix("bin/store") })
        #expect(try shown("dpkg-deb", "-f", path, "Depends") == "strata (>= 0.1.0), python3\n")
        let scripts = try shown("dpkg-deb", "-I", path, "conffiles", "postinst")
        #expect(scripts.hasPrefix("/etc/strata/packed/strata.yaml\n/etc/strata/packed/more.yaml\n"))
        #expect(scripts.contains("for row in Store Cart; do"), "\(scripts)")
    }

    @Test(.promise("M.161")) func anUpgradeRestartsTheRowsThatRun() throws {
        try skipWithoutDpkg()
        try make("  Store: {run: [bin/store]}\n  Cart: {run: [bin/store]}\n  Late: {run: [bin/store]}\n")
        try folder.write("app/bin/store", "#!/bin/sh\n", mode: 0o755)
        #expect(try package().end == .exit(0))
        try folder.write(
            "postinst", try shown("dpkg-deb", "-I", "\(folder.path)/strata-app-packed_1.0_all.deb", "postinst"))
        // The script's tools: the unit is active, Cart has two replicas, and Late has no process.
        try folder.write("tools/systemctl", "#!/bin/sh\n", mode: 0o755)
        let rows = [
            #"{"name":"Cart~1","pid":7}"#, #"{"name":"Cart~2","pid":8}"#, #"{"name":"Late"}"#,
            #"{"name":"Store","pid":9}"#,
        ]
        try folder.write(
            "tools/strata",
            """
            #!/bin/sh
            case $1 in
            ps) printf '%s\\n' \(rows.map { "'\($0)'" }.joined(separator: " ")) ;;
            *) echo "$1 $2" ;;
            esac

            """, mode: 0o755)
        let program = try ChildProgram(
            "/bin/sh", ["\(folder.path)/postinst", "configure", "0.9"],
            environment: ["PATH": "\(folder.path)/tools:/usr/bin:/bin"])
        #expect(try program.wait() == .exit(0))
        #expect(program.outputText == "reload --socket\nrestart Store\nrestart Cart\n")
    }

    @Test(.promise("M.161")) func whatAProgramIsLinkedWithIsNeeded() throws {
        try skipWithoutDpkg()
        try make("  Base: {run: [bin/base]}\n")
        try folder.write("app/bin/other")
        try FileManager.default.copyItem(
            atPath: try BuiltExecutable.path("StrataFixture"), toPath: "\(folder.path)/app/bin/base")
        let run = try package()
        #expect(run.end == .exit(0), "\(run.said)")
        let path = try #require(run.said.split(separator: "\n").last.map(String.init))
        #expect(!path.hasSuffix("_all.deb"))
        let needs = try shown("dpkg-deb", "-f", path, "Depends")
        #expect(needs.hasPrefix("strata (>= 0.1.0), strata-swift-runtime, ") && needs.contains("libuv1"), "\(needs)")
    }

    @Test(.promise("M.161")) func aProgramLooksForLibrariesInNoFolderOfThisMachine() throws {
        try skipWithoutDpkg()
        try make("  Base: {run: [bin/base]}\n")
        try folder.write("app/bin/other")
        let built = try BuiltExecutable.path("StrataFixture")
        try FileManager.default.copyItem(atPath: built, toPath: "\(folder.path)/app/bin/base")
        // The program that is packed has such a folder, and one relative to itself.
        #expect(try shown("readelf", "-d", built).contains("swift/linux:$ORIGIN]"))
        let run = try package()
        let path = try #require(run.said.split(separator: "\n").last.map(String.init))
        _ = try shown("dpkg-deb", "-x", path, "\(folder.path)/unpacked")
        let packed = "\(folder.path)/unpacked/usr/lib/strata/packed/bin/base"
        let section = try shown("readelf", "-d", packed)
        #expect(section.contains("Library runpath: [$ORIGIN]"), "\(section)")
        // It is still a program: the loader finds in it what it needs.
        #expect(try shown("readelf", "-V", packed).contains("GLIBC_"))
    }

    @Test(.promise("M.161")) func whatCanNotBePackedIsSaid() throws {
        try make("  Store: {run: [bin/store]}\n")
        var run = try package()
        #expect(
            run.end == .exit(2) && run.said.contains("Store: \(folder.path)/app/bin/store isn't there: build it first"))
        try folder.write("app/bin/store", "#!/bin/sh\n", mode: 0o755)
        run = try package("--include", folder.path)
        #expect(run.end == .exit(2) && run.said.contains("the manifest's folder"), "\(run.said)")
        run = try package("--include", "\(folder.path)/app/absent")
        #expect(run.end == .exit(2) && run.said.contains("absent: No such file or directory"), "\(run.said)")
        run = try package("--include", "absent")
        #expect(run.end == .exit(2) && run.said.contains("--include absent: No such file or directory"), "\(run.said)")
        // Reading it would never end.
        try #require(mkfifo("\(folder.path)/app/pipe", 0o600) == 0)
        run = try package("--include", "\(folder.path)/app/pipe")
        #expect(run.end == .exit(2) && run.said.contains("pipe: it is not a file"), "\(run.said)")
        run = try package("--version", "one")
        #expect(run.end == .exit(2) && run.said.contains("a digit first; found one"), "\(run.said)")
        try folder.write("app/strata.yaml", "app: packed\ninclude: [../other.yaml]\n")
        try folder.write("other.yaml", "Other: {start: manual}\n")
        run = try package()
        #expect(run.end == .exit(2) && run.said.contains("from outside of"), "\(run.said)")
        try folder.write("app/strata.yaml", "app: [\n")
        run = try package()
        #expect(run.end == .exit(2) && run.said.contains("strata.yaml:"), "\(run.said)")
        #expect(!folder.contents.contains { $0.hasSuffix(".deb") })
    }
}
