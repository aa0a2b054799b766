import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

/// The end of an app whose modules resist it: nothing is left of it.
@Suite(.timeLimit(.hang))
struct ResistingModuleTests {
    /// Each script writes the ids of its processes into `NAME.pid`. `daemon.sh` forks twice, out
    /// of its session. `ignores.sh` ignores SIGTERM. `floods.sh` fills its output. `leaves.sh`
    /// works in another session. `all.sh` does all of this.
    private static let scripts = [
        "daemon.sh": """
        (setsid sh -c '(echo $$ >>daemon.pid; exec sleep 1000) & wait' </dev/null >/dev/null 2>&1 &)
        echo $$ >>daemon.pid; exec cat <&3
        """,
        "ignores.sh": "trap '' TERM HUP INT; echo $$ >>ignores.pid; while :; do sleep 1000; done",
        "floods.sh": "echo $$ >>floods.pid; exec yes flood",
        "leaves.sh": "setsid sh -c 'echo $$ >>leaves.pid; exec sleep 1000' & echo $$ >>leaves.pid; wait",
        "all.sh": """
        trap '' TERM HUP INT
        (setsid sh -c 'trap "" TERM HUP INT; echo $$ >>all.pid; while :; do echo flood; done' &)
        (setsid sh -c 'trap "" TERM HUP INT; echo $$ >>all.pid; while :; do sleep 1000; done' &)
        echo $$ >>all.pid; while :; do echo flood; done
        """,
    ]
    private static let files =
        ["daemon.pid", "daemon.pid", "ignores.pid", "floods.pid", "leaves.pid", "leaves.pid"]
        + ["all.pid", "all.pid", "all.pid"]

    private func app() throws -> UpProcess {
        try UpProcess(
            """
            app: test
            modules:
              Daemon: {run: [daemon.sh], start: async, stop: 200ms}
              Ignores: {run: [ignores.sh], start: async, stop: 200ms}
              Floods: {run: [floods.sh], start: async, stop: 200ms}
              Leaves: {run: [leaves.sh], start: async, stop: 200ms}
              All: {run: [all.sh], start: async, stop: 200ms}
            """, scripts: Self.scripts)
    }

    /// Returns the process ids that the modules wrote, once all are there.
    private func pids(_ app: UpProcess, until: (() -> Bool) throws -> Void) throws -> [Int32] {
        let names = Set(Self.files)
        func known() -> [Int32] {
            names.flatMap { UpProcess.text(of: "\(app.folder)/\($0)").split(separator: "\n").compactMap { Int32($0) } }
        }
        try until { known().count == Self.files.count }
        defer { for name in names { unlink("\(app.folder)/\(name)") } }
        return known()
    }

    @Test(.promise("M.37", "R.14"), arguments: [SIGTERM, SIGINT])
    func nothingIsLeftOfModulesThatResist(signal: Int32) throws {
        let app = try app()
        defer { app.cleanUp() }
        try app.start()
        let pids = try pids(app) { try app.until($0) }
        defer { for pid in pids where UpProcess.runs(pid) { kill(pid, SIGKILL) } }
        #expect(pids.allSatisfy(UpProcess.runs))
        app.signal(signal)
        // There is much output to read until then.
        try app.until { app.exit != nil }
        #expect(try app.ended() == .code(0))
        #expect(pids.filter(UpProcess.runs) == [])
        #expect(
            app.lines.contains { $0.hasPrefix("Ignores ") && $0.contains("it did not end within 200 ms of SIGTERM") })
        #expect(!app.isThere(app.socket))
    }

    /// The output of `strata` isn't read, and its modules flood it.
    @Test(.promise("M.37", "R.15")) func nothingIsLeftWhereNobodyReadsTheOutput() throws {
        let app = try app()
        defer { app.cleanUp() }
        let loop = try Loop()
        let output = try Pipe()
        defer { output.closeReading() }
        var command = ChildProcess.Command(
            arguments: [try BuiltExecutable.path("strata"), "up", app.manifest, "--socket", app.socket],
            environment: ["PATH=/usr/bin:/bin", "MEMORY_PRESSURE_WATCH=/dev/null"], folder: app.folder)
        command.descriptors = [nil, output.writing, output.writing]
        var exit: ChildProcess.Exit?
        let strata = try ChildProcess(loop, command) { exit = $0 }
        defer {
            output.closeWriting()
            strata.kill(SIGKILL)
            while exit == nil { loop.runOnce(waiting: true) }
        }
        func until(_ condition: () -> Bool) throws {
            let hasCome = loop.run(until: condition)
            try #require(hasCome)
        }
        let pids = try pids(app, until: until)
        defer { for pid in pids where UpProcess.runs(pid) { kill(pid, SIGKILL) } }
        try until { Self.isFull(output) }
        strata.kill(SIGTERM)
        try until { exit != nil }
        #expect(exit == .code(0))
        #expect(pids.filter(UpProcess.runs) == [])
        #expect(!app.isThere(app.socket))
    }

    private static func isFull(_ pipe: Pipe) -> Bool {
        var ready = pollfd(fd: pipe.writing, events: Int16(POLLOUT), revents: 0)
        return poll(&ready, 1, 0) == 0
    }

    /// tearDown, SIGTERM and SIGKILL each have their time, and come in this order. Later levels
    /// end before earlier ones.
    @Test(.promise("M.15", "R.13")) func endIsInReverseOrderAndEachStepHasItsTime() throws {
        let app = try FixtureApp(
            """
              Hangs: {level: middle, priority: 5, run: [MODULE], env: {FIXTURE: hangs in tearDown}, stop: 2s}
              Stays: {level: topout, run: [MODULE], env: {FIXTURE: ignores SIGTERM}, stop: 300ms}
            """)
        defer { app.cleanUp() }
        try app.start()
        let before = app.running.lines.count
        try app.end()
        let lines = app.running.lines.dropFirst(before)
        func place(_ module: String, _ text: String) throws -> Int {
            try #require(
                lines.firstIndex { $0.hasPrefix("\(module) ") && $0.contains(text) }, "\(module) \(text): \(lines)")
        }
        for (first, second) in [("Top", "Mid"), ("Stays", "Mid"), ("Mid", "Hangs"), ("Hangs", "Base")] {
            #expect(
                try place(first, "stopped: the app ends") < place(second, "| tearDown"), "\(first) before \(second)")
        }
        #expect(try place("Hangs", "| tearDown") < place("Hangs", "stopped: the app ends"))
    }
}
