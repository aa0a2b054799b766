import Glibc
import StrataCore
import StrataTesting
import Testing

/// `strata up` with one Swift module on each level, and an operator's connection to their bus.
final class FixtureApp {
    let running: UpProcess
    private var lazyTool: RawPeer?

    /// - Parameters:
    ///   - more: further rows of the manifest, indented by two spaces.
    ///   - extra: further lines of the manifest.
    init(_ more: String = "", extra: String = "") throws {
        let module = try BuiltExecutable.path("StrataFixture")
        running = try UpProcess(
            """
            app: fixture
            schemes: [fixture]
            \(extra)
            modules:
              Base: {run: [\(module)], provides: [Base]}
              Mid: {level: middle, run: [\(module)], provides: [Mid]}
              Top: {level: topout, run: [\(module)], provides: [Top]}
              Lazy: {level: topout, start: on-demand, run: [\(module)], provides: [Lazy]}
            \(more.replacing("MODULE", with: module))
            """)
    }

    /// Runs an app with a further row, and ends it in order.
    static func run(_ row: String, _ test: (FixtureApp, RawPeer) throws -> Void) throws {
        let app = try FixtureApp("  " + row)
        defer { app.cleanUp() }
        try app.start()
        let tool = try app.tool()
        try test(app, tool)
        tool.close()
        try app.end()
    }

    /// Starts the app, and waits until all eager modules are ready.
    /// - Parameters:
    ///   - more: further arguments of `strata up`.
    ///   - environment: further variables of the launcher, `NAME=value` each.
    ///   - terminal: the launcher's controlling terminal.
    func start(_ more: [String] = [], environment: [String] = [], terminal: PseudoTerminal? = nil) throws {
        try running.start("up", more, environment: environment, terminal: terminal)
        try running.until { running.said("modules are ready") }
    }

    /// Returns how many of the modules of all levels have printed that they got an event.
    func heard(_ event: String) -> Int {
        ["Base", "Mid", "Top"].count { module in
            running.lines.contains { $0.hasPrefix("\(module) ") && $0.contains("| event \(event)") }
        }
    }

    /// Returns the launcher's first line about a module that begins with this text.
    func line(of module: String, _ beginning: String) -> String? {
        running.lines.first { line in
            // A module's own lines have a bar after its name.
            let said = line.dropFirst(module.count).drop { $0 == " " }
            return line.hasPrefix("\(module) ") && said.first != "|" && said.hasPrefix(beginning)
        }
    }

    /// Whether `startup` was long enough for the healthy modules, and for the hellos of the
    /// hanging ones.
    func isInTime(hanging: [String]) -> Bool {
        !running.lines.contains { line in
            hanging.contains { line.hasPrefix("\($0) ") } && line.contains("did not say hello")
                || ["Base", "Mid", "Top"].contains { line.hasPrefix("\($0) ") } && line.contains("did not ")
        }
    }

    /// Opens an operator's connection.
    func tool() throws -> RawPeer {
        let peer = try RawPeer(path: running.socket, label: "tool")
        try peer.hello(role: "operator")
        return peer
    }

    /// Returns the process of a module, as the bus knows it.
    func pid(of module: String, _ tool: RawPeer) throws -> Int32 {
        let rows = try tool.asked("bus/modules")["modules"]?.array ?? []
        let row = try #require(rows.first { $0["name"]?.string == module })
        return Int32(try #require(row["pid"]?.integer))
    }

    /// Ends the app in order, and checks that nothing of it is left.
    func end() throws {
        let children = running.children()
        running.signal(SIGINT)
        #expect(try running.ended() == .code(0))
        for pid in children { #expect(!UpProcess.lives(pid)) }
        #expect(!running.isThere(running.socket))
    }

    func cleanUp() { running.cleanUp() }
}
