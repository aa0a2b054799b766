import Glibc
import StrataCore
import StrataLoop
import StrataManifest
import TestSupport
import Testing

@testable import StrataLauncher

/// A launcher on a loop of its own, with a fake broker. Its modules are shell scripts in a folder
/// of its own.
final class LauncherFixture: LineSink {
    let loop: Loop
    let broker: FakeLaunchBroker
    let folder: String
    private(set) var lines: [String] = []
    private(set) var ending: Launcher.Ending?
    private var launcher: Launcher?
    private var table = AppTable(app: "test")
    private var processes: [ModuleProcess] = []
    private var removed: [(row: AppTable.Row, process: ModuleProcess)] = []
    private var files: [String] = []
    private var link: String?
    var federation: Federation?
    /// The launcher's environment. Memory pressure on the machine must not affect tests.
    var environment = ["PATH": "/usr/bin:/bin", "STRATA_OLD": "1", "MEMORY_PRESSURE_WATCH": "/dev/null"]

    /// Whether a person sees its output.
    var isForPerson = false

    init() throws {
        var template = Array("/tmp/strata-launcher-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        loop = try Loop()
        broker = try FakeLaunchBroker(loop, path: folder + "/bus.sock")
        table.startup = 30_000
    }

    deinit { for path in files.reversed() { unlink(path) } }

    /// Adds a module that runs `script` and then stays until the launcher's end or SIGTERM.
    func module(
        _ name: String, _ script: String = "", rank: Int = 0, stays: Bool = true,
        _ change: (inout AppTable.Row, inout ModuleProcess) -> Void = { _, _ in }
    ) throws {
        let path = "\(folder)/\(name).sh"
        try WrittenProgram.write("#!/bin/sh\n\(script)\n" + (stays ? "exec cat <&3\n" : ""), to: path)
        files.append(path)
        var row = AppTable.Row(name: name)
        row.rank = rank
        row.stop = 1_000
        var process = ModuleProcess(name: name, folder: folder)
        process.run = [path]
        process.executable = path
        change(&row, &process)
        table.modules.append(row)
        processes.append(process)
    }

    /// Removes a row for the next reload.
    func remove(_ name: String) {
        removed += zip(table.modules, processes).filter { $0.0.name == name }
        table.modules.removeAll { $0.name == name }
        processes.removeAll { $0.name == name }
    }

    /// Brings back a removed row for the next reload.
    func bringBack(_ name: String) {
        for (row, process) in removed where row.name == name {
            table.modules.append(row)
            processes.append(process)
        }
        removed.removeAll { $0.row.name == name }
    }

    /// Changes a row for the next reload.
    func change(_ name: String, _ change: (inout AppTable.Row, inout ModuleProcess) -> Void) {
        for index in processes.indices where processes[index].name == name {
            change(&table.modules[index], &processes[index])
        }
    }

    /// Makes a script that plays `strata-link`, for an app with a NATS server.
    func link(_ script: String) throws {
        link = "\(folder)/strata-link"
        try WrittenProgram.write("#!/bin/sh\n\(script)\n", to: "\(folder)/strata-link")
        files.append("\(folder)/strata-link")
        federation = Federation()
        federation?.servers = ["nats://localhost"]
    }

    /// Notes a file that a script makes in the folder.
    func owns(_ name: String) -> String {
        files.append("\(folder)/\(name)")
        return "\(folder)/\(name)"
    }

    /// Makes it the launcher of one of the app's nodes.
    func runs(on node: String, of nodes: String...) {
        (table.node, table.nodes) = (node, nodes.map { .init($0) })
    }

    func rename(_ app: String) { table.app = app }
    var reloadFails: LaunchError?

    private var manifest: Manifest {
        Manifest(path: "test.yaml", folder: folder, table: table, processes: processes, federation: federation)
    }

    func start() throws {
        var settings = Launcher.Settings(
            manifest: manifest, socket: broker.path, broker: .running, environment: environment)
        settings.ownsProcess = false
        settings.link = link
        settings.isForPerson = isForPerson
        settings.hints = ["export PATH"]
        settings.reload = { [unowned self] in self.reloadFails.map { .failure($0) } ?? .success(self.manifest) }
        let launcher = try Launcher(loop, settings, console: Console(self, isColoured: false))
        launcher.onEnd = { [unowned self] in self.ending = $0 }
        self.launcher = launcher
        try launcher.start()
    }

    func write(line: [UInt8]) { lines.append(String(decoding: line, as: UTF8.self)) }

    func said(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

    /// Runs the loop until a condition holds.
    func until(_ condition: () -> Bool, _ location: SourceLocation = #_sourceLocation) throws {
        let hasCome = loop.run(until: condition)
        try #require(hasCome, "it did not come about; lines: \(lines)", sourceLocation: location)
    }

    /// Waits for a module's process, and makes its session ready.
    func getReady(_ name: String) throws {
        try until { broker.pid(of: name) != nil }
        broker.tell(name, "ready", pid: broker.pid(of: name))
        try until { lines.contains { $0.hasPrefix(name) && $0.contains("ready after") } }
    }

    func ask(_ action: String, _ body: JSON = .object([])) throws -> Result<JSON, BusError> {
        var answer: Result<JSON, BusError>?
        broker.ask(action, body) { answer = $0 }
        try until { answer != nil }
        return try #require(answer)
    }

    /// Makes a FIFO the source of memory pressure.
    /// - Returns: the descriptor to write to, which the caller closes.
    func pressureFIFO() throws -> Int32 {
        let path = folder + "/pressure"
        try #require(mkfifo(path, 0o600) == 0)
        files.append(path)
        environment["MEMORY_PRESSURE_WATCH"] = path
        return open(path, O_RDWR | O_NONBLOCK)
    }

    func order(_ text: String) { launcher?.ordered(text) }

    func end() throws {
        order("test")
        try until { ending != nil }
        broker.close()
        loop.runOnce()
        rmdirLater()
    }

    private func rmdirLater() {
        for path in files.reversed() { unlink(path) }
        files = []
        rmdir(folder)
    }
}
