import Glibc
import Strata
import StrataTesting
import Testing

/// The example app as its manifest has it, run by `strata up` in a folder of its
/// own, with packages that the test chooses.
final class CatalogApp {
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    private let folder = try! TemporaryFolder()  // because a test without one has failed anyway
    private var program: ChildProgram?
    private(set) var tool: RawPeer

    var socket: String { folder.path + "/app.sock" }

    /// - Parameters:
    ///   - changes: what of the manifest's text is replaced by what.
    ///   - adapters: further ones, indented by two.
    init(packages: Int = 3, _ changes: [String: String] = [:], adapters: String = "") throws {
        let folder = folder
        var manifest = try Self.read(Self.root + "/strata.yaml") + adapters
        let modules = try BuiltExecutable.path("Storage").dropLast("Storage".count)
        let all = [
            ".build/release/": String(modules), "Sources/Modules/": Self.root + "/Sources/Modules/",
            "/var/lib/dpkg/status": folder.path + "/status",
        ]
        for (old, new) in all.merging(changes, uniquingKeysWith: { $1 }) {
            try #require(manifest.contains(old), "the manifest has no \(old)")
            manifest.replace(old, with: new)
        }
        try Self.write(folder.path + "/strata.yaml", manifest)
        try Self.write(folder.path + "/users", try Self.read(Self.root + "/users"))
        try Self.write(folder.path + "/status", Self.status(packages))
        let program = try ChildProgram(
            BuiltExecutable.path("strata"), ["up", folder.path + "/strata.yaml", "--socket", folder.path + "/app.sock"])
        self.program = program
        tool = try Self.connect(folder.path + "/app.sock")
        for module in ["Storage", "Log", "Session", "Catalog", "Notes"] { try waitUntil(module, is: "ready") }
    }

    /// Ends it in order.
    func end() throws {
        tool.close()
        program?.send(signal: SIGINT)
        #expect(try program?.wait() == .exit(0))
        folder.remove()
    }

    deinit {
        // Where a test failed midway the app still runs.
        program?.send(signal: SIGINT)
        _ = try? program?.wait()
        program?.kill()
        folder.remove()
    }

    /// An operator's connection beside the first.
    func anotherTool() throws -> RawPeer { try Self.connect(socket) }

    /// Runs the command against the app, to its end: what it wrote.
    func strata(_ arguments: String...) throws -> String { try run(arguments + ["--socket", socket]) }

    /// Checks the app's manifest: what was found.
    func check(_ more: String..., exit: Int32 = 0) throws -> String {
        try run(["check", folder.path + "/strata.yaml"] + more, exit: exit)
    }

    /// Runs the program that opens a file, and has Export write to it: what it wrote to its output.
    func save(to path: String, exit: Int32 = 0) throws -> String {
        try run([path], of: Self.root + "/Sources/Tools/Save/save.py", exit: exit)
    }

    private func run(_ arguments: [String], of program: String? = nil, exit: Int32 = 0) throws -> String {
        let program = try ChildProgram(
            program ?? BuiltExecutable.path("strata"), arguments, environment: ["STRATA_SOCKET": socket],
            folder: folder.path)
        #expect(try program.wait() == .exit(exit), "\(program.outputText)")
        return program.outputText
    }

    func waitUntil(_ module: String, is state: String, otherThan pid: Int64 = 0) throws {
        let peer = try anotherTool()
        defer { peer.close() }
        try peer.call("bus/watch", nil, ["credit": 1_000_000], id: 1_000)
        while true {
            let seen = try peer.find(
                ["id": 1_000], body: ["module": .string(module), "state": .string(state)])
            if seen.json["pid"]?.integer != pid { return }
        }
    }

    func pid(of module: String) throws -> Int64 {
        let rows = try tool.asked("bus/modules")["modules"]?.array ?? []
        return try #require(rows.first { $0["name"]?.string == module }?["pid"]?.integer)
    }

    /// What passes from now on, to `next(passing:)`.
    func monitor(_ filter: JSON) throws -> RawPeer {
        let peer = try anotherTool()
        try peer.call("bus/monitor", filter, ["credit": 1_000_000], id: 1_000)
        // Answered behind the stream's beginning.
        try peer.settle()
        return peer
    }

    /// Signs in, and gives the token.
    func signIn(_ user: String = "ada", _ password: String = "lovelace") throws -> String {
        let answer = try tool.asked("Session/signIn", ["user": .string(user), "password": .string(password)])
        return try #require(answer["token"]?.string)
    }

    /// Changes the manifest's text, and has it read again.
    func reload(_ old: String, as new: String) throws {
        var manifest = try read("strata.yaml")
        try #require(manifest.contains(old), "the manifest has no \(old)")
        manifest.replace(old, with: new)
        try Self.write(folder.path + "/strata.yaml", manifest)
        _ = try strata("reload")
    }

    /// Changes the package manager's file.
    func setPackages(_ count: Int) throws { try Self.write(folder.path + "/status", Self.status(count)) }
    func setUsers(_ text: String) throws { try Self.write(folder.path + "/users", text) }
    func read(_ name: String) throws -> String { try Self.read(folder.path + "/" + name) }

    private static func status(_ count: Int) -> String {
        (1...count).map { number in
            """
            Package: package\(number)
            Status: install ok installed
            Version: 1
            Architecture: all
            Description: number \(number)


            """
        }.joined()
    }

    /// Connects as soon as there is somebody.
    private static func connect(_ path: String) throws -> RawPeer {
        let limit = ContinuousClock.now + TestBus.patience
        while true {
            do {
                let peer = try RawPeer(path: path, label: "tool")
                try peer.hello(role: "operator")
                return peer
            } catch {
                guard ContinuousClock.now < limit else { throw error }
                poll(nil, 0, 5)
            }
        }
    }

    private static func read(_ path: String) throws -> String {
        let file = try #require(fopen(path, "r"), "\(path) can't be read")
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    static func write(_ path: String, _ text: String) throws {
        let file = try #require(fopen(path, "w"), "\(path) can't be written")
        fputs(text, file)
        fclose(file)
    }
}
