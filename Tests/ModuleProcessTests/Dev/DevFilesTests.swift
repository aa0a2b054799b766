import Glibc
import StrataCore
import StrataManifest
import StrataTesting
import TestSupport
import Testing

@testable import StrataLauncher

@Suite(.timeLimit(.hang))
struct DevFilesTests {
    private func files(_ rows: (name: String, run: [String])...) -> DevFiles {
        var table = AppTable(app: "test")
        var processes: [ModuleProcess] = []
        for (name, run) in rows {
            table.modules.append(AppTable.Row(name: name))
            var process = ModuleProcess(name: name, folder: "/app/work")
            process.run = run
            process.executable = run.first.map { $0.hasPrefix("/") ? $0 : "/app/\($0)" }
            processes.append(process)
        }
        return DevFiles(Manifest(path: "strata.yaml", folder: "/app", table: table, processes: processes))
    }

    @Test(.promise("M.159")) func aFileIsForTheManifestABuildOrAScript() {
        let files = files(("A", [".build/debug/A"]), ("B", ["b.py"]), ("C", ["tools/c"]))
        #expect(files.kind(of: "/app/more.yml") == .manifest)
        for name in ["Package.swift", "Sources/A/A.swift", "x.c", "x.h", "module.modulemap"] {
            #expect(files.kind(of: "/app/\(name)") == .source)
        }
        #expect(files.kind(of: "/app/helper.py") == .script)
        #expect(files.kind(of: "/app/b.py") == .program)
        #expect(files.kind(of: "/app/tools/c") == .program)
        for name in ["README.md", "var/log.sqlite", "swift", "c"] { #expect(files.kind(of: "/app/\(name)") == nil) }
    }

    @Test(.promise("M.159")) func aScriptIsForTheRowsThatRunItOrMayImportIt() {
        let files = files(
            ("Store", ["/usr/bin/python3", "/app/store/main.py"]), ("Cart", ["cart/main.py"]),
            ("Both", ["/usr/bin/env", "python3", "/app/cart/main.py", "--both"]),
            ("Near", ["/usr/bin/python3", "near.py"]),
            ("Swift", [".build/debug/Swift"]))
        #expect(files.rows(of: "/app/cart/main.py") == ["Cart", "Both"])
        #expect(files.rows(of: "/app/store/parts/disk.py") == ["Store"])
        #expect(files.rows(of: "/app/work/near.py") == ["Near"])
        #expect(files.rows(of: "/app/shared.py") == ["Store", "Cart", "Both", "Near"])
        #expect(files.scriptFolders == ["/app/store", "/app/cart", "/app/work"])
    }

    @Test(.promise("M.159")) func whatWasMadeChangedOrRemovedIsSeen() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for name in ["in", "in/deep", ".hidden", "__pycache__"] { mkdir("\(folder.path)/\(name)", 0o700) }
        func write(_ name: String, _ text: String) throws {
            try WrittenProgram.write(text, to: "\(folder.path)/\(name)", mode: 0o600)
        }
        for name in ["a.py", "b.py", "in/deep/c.swift", ".hidden/d.py", "__pycache__/e.py"] { try write(name, "1") }
        try #require(symlink("..", "\(folder.path)/in/loop") == 0)
        let files = files()
        let before = DevTree(roots: [folder.path, "\(folder.path)/in"], files)
        #expect(before.folders == [folder.path, "\(folder.path)/in", "\(folder.path)/in/deep"])
        #expect(DevTree(roots: [folder.path], files).changes(since: before).isEmpty)
        try write("in/deep/c.swift", "2")
        try write("new.py", "1")
        try write("notes.txt", "1")
        unlink("\(folder.path)/b.py")
        let after = DevTree(roots: [folder.path], files)
        #expect(after.changes(since: before) == ["b.py", "in/deep/c.swift", "new.py"].map { "\(folder.path)/\($0)" })
    }

    @Test(.promise("M.159")) func theNumberOfFoldersHasABound() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for number in 0..<DevTree.mostFolders - 1 { mkdir("\(folder.path)/\(number)", 0o700) }
        #expect(DevTree(roots: [folder.path], files()).beyond == nil)
        mkdir("\(folder.path)/more", 0o700)
        let tree = DevTree(roots: [folder.path], files())
        #expect(tree.folders.count == DevTree.mostFolders && tree.beyond?.hasPrefix(folder.path) == true)
    }
}
