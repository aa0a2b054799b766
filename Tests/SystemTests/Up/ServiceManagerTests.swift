import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

/// `strata up` and `strata broker` under a service manager, with a stand-in for systemd: their
/// notifications, and the socket that it passes.
@Suite(.timeLimit(.hang))
struct ServiceManagerTests {
    /// Makes an app whose only module prints its environment when it starts.
    private func makeApp() throws -> UpProcess {
        try UpProcess(
            "{app: test, modules: {A: {run: [a.sh], start: async, stop: 100ms}}}",
            scripts: ["a.sh": "echo \"env: $(env | tr '\\n' ' ')\"\nexec cat <&3"])
    }

    /// Collects the manager's notifications until a condition holds for them.
    private func hear(
        _ manager: DatagramServer, _ app: UpProcess, _ heard: inout [String], until condition: ([String]) -> Bool,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        try app.until(
            {
                while let news = manager.next() { heard.append(news) }
                return condition(heard)
            }, location)
    }

    @Test(.promise("M.89")) func theManagerHearsOfReadinessReloadAndEnd() throws {
        let app = try UpProcess("{app: test, modules: {A: {start: on-demand, run: [a.sh], provides: [A]}}}")
        defer { app.cleanUp() }
        let manager = try #require(DatagramServer(path: app.folder + "/notify"))
        try app.start(environment: ["NOTIFY_SOCKET=\(manager.path)"])
        var heard: [String] = []
        try hear(manager, app, &heard) { !$0.isEmpty }
        #expect(heard.count == 1 && heard[0].hasPrefix("READY=1\nSTATUS=all 0 modules are ready after "), "\(heard)")
        app.signal(SIGHUP)
        try hear(manager, app, &heard) { $0.count >= 3 }
        #expect(heard[1].wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=[0-9]+/) != nil, "\(heard[1])")
        #expect(heard[2] == "READY=1")
        app.signal(SIGTERM)
        #expect(try app.ended() == .code(0))
        try hear(manager, app, &heard) { $0.count >= 4 }
        #expect(heard[3...] == ["STOPPING=1\nSTATUS=the app ends: SIGTERM"])
    }

    @Test(.promise("M.89")) func theWatchdogHearsAsLongAsTheBrokerAnswers() throws {
        let app = try makeApp()
        defer { app.cleanUp() }
        let manager = try #require(DatagramServer(path: app.folder + "/notify"))
        try app.start(environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=40000"])
        var heard: [String] = []
        try hear(manager, app, &heard) { $0.filter { $0 == "WATCHDOG=1" }.count >= 3 }
        // A broker that is stopped answers no ping. There are no more notifications until it
        // continues.
        let broker = try app.broker()
        kill(broker, SIGSTOP)
        try app.until { UpProcess.state(of: broker) == "T" }
        try hear(manager, app, &heard) { _ in true }
        let (before, start) = (heard.count, app.loop.now)
        try hear(manager, app, &heard) { _ in app.loop.now >= start + 300 }
        // 15 notifications would have been due. A few may come from pings that were answered
        // before.
        #expect(heard.count < before + 5, "\(heard)")
        kill(broker, SIGCONT)
        let halted = heard.count
        try hear(manager, app, &heard) { $0.count > halted }
        app.signal(SIGTERM)
        #expect(try app.ended() == .code(0))
    }

    @Test(.promise("M.89")) func theWatchdogHearsNothingWhileTheBrokerIsGone() throws {
        let (broker, next, app) = (try makeApp(), try makeApp(), try makeApp())
        defer { for app in [app, next, broker] { app.cleanUp() } }
        let manager = try #require(DatagramServer(path: app.folder + "/notify"))
        try broker.start("broker")
        try broker.until { SocketAddress.occupant(broker.socket) == .live }
        try app.start(
            "launch", socket: broker.socket, environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=40000"])
        var heard: [String] = []
        try hear(manager, app, &heard) { $0.filter { $0 == "WATCHDOG=1" }.count >= 3 }
        broker.signal(SIGKILL)
        _ = try broker.ended()
        // All earlier notifications are there with this line.
        try hear(manager, app, &heard) { _ in app.said("no connection to the broker") }
        let before = heard.count
        let start = app.loop.now
        try hear(manager, app, &heard) { _ in app.loop.now >= start + 200 }
        #expect(heard.count == before, "\(heard)")
        try next.start("broker", socket: broker.socket)
        try hear(manager, app, &heard) { $0.dropFirst(before).contains("WATCHDOG=1") }
        for ending in [app, next] {
            ending.signal(SIGTERM)
            #expect(try ending.ended() == .code(0))
        }
    }

    /// Variables that are meant for the launcher reach no process that it starts.
    @Test func modulesHearNothingOfTheManager() throws {
        let app = try makeApp()
        defer { app.cleanUp() }
        let manager = try #require(DatagramServer(path: app.folder + "/notify"))
        let listening = DatagramServer.listener(path: app.socket)
        defer { close(listening) }
        try app.start(
            environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=40000", "LISTEN_FDNAMES=bus"],
            passed: listening)
        try app.until { app.said("| env: ") }
        let line = try #require(app.lines.first { $0.contains("| env: ") })
        for name in ServiceManager.names { #expect(!line.contains(name), "\(line)") }
        #expect(line.contains("STRATA_SOCKET=\(app.socket)"))
        app.signal(SIGTERM)
        #expect(try app.ended() == .code(0))
    }

    @Test(.promise("M.89")) func aPassedSocketIsServedByEachBrokerAndStays() throws {
        let app = try makeApp()
        defer { app.cleanUp() }
        let listening = DatagramServer.listener(path: app.socket)
        defer { close(listening) }
        // A client that connects before the app starts waits for it.
        let early = try ChildProgram(
            try BuiltExecutable.path("strata"), ["ps", "--json"], environment: ["STRATA_SOCKET": app.socket])
        try app.start(passed: listening)
        try app.until { app.said("test on \(app.socket)") && app.said("| env: ") }
        #expect(try early.wait() == .exit(0))
        #expect(early.outputText.contains("\"A\""), "\(early.outputText)")
        let old = try app.broker()
        kill(old, SIGKILL)
        // The path always has a listener in between.
        #expect(try app.strata("levels", "--json").end == .exit(0))
        #expect(try app.broker() != old)
        let replacing = try app.strata("restart", "--broker")
        #expect(replacing.end == .exit(0), "\(replacing.output)")
        app.signal(SIGTERM)
        #expect(try app.ended() == .code(0))
        #expect(app.isThere(app.socket))
        #expect(SocketAddress.occupant(app.socket) == .live)
    }

    @Test func theBrokerAloneDoesAsMuch() throws {
        let app = try makeApp()
        defer { app.cleanUp() }
        let manager = try #require(DatagramServer(path: app.folder + "/notify"))
        let listening = DatagramServer.listener(path: app.socket)
        defer { close(listening) }
        // A manager's socket holds ten datagrams, and further ones are lost. So there are few
        // enough that the last one arrives.
        try app.start(
            "broker", environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=400000"], passed: listening)
        var heard: [String] = []
        try hear(manager, app, &heard) { $0.filter { $0 == "WATCHDOG=1" }.count >= 2 }
        #expect(heard[0] == "READY=1\nSTATUS=test on \(app.socket)")
        #expect(try app.strata("levels", "--json").end == .exit(0))
        app.signal(SIGTERM)
        try hear(manager, app, &heard) { $0.contains("STOPPING=1") }
        #expect(try app.ended() == .code(0))
        #expect(app.isThere(app.socket))
    }

    @Test(
        arguments: [
            ("2", true, nil, "passed 2 sockets (LISTEN_FDS), and a bus has one: give its unit one ListenStream="),
            ("1", false, nil, "is not a listening Unix stream socket: give its unit ListenStream= with a path"),
            ("1", true, "/tmp/other.sock", "--socket says /tmp/other.sock, and the service manager passed a socket on"),
        ] as [(String, Bool, String?, String)])
    func whatCannotBeTheBussSocketIsRefused(count: String, listens: Bool, given: String?, message: String) throws {
        let app = try makeApp()
        defer { app.cleanUp() }
        let path = app.folder + "/passed.sock"
        let manager = listens ? nil : DatagramServer(path: path)
        let passed = listens ? DatagramServer.listener(path: path) : open("/dev/null", O_RDONLY)
        defer {
            close(passed)
            unlink(path)
        }
        try app.start(socket: given, environment: ["LISTEN_FDS=\(count)"], passed: passed)
        #expect(try app.ended() == .code(2))
        #expect(app.said(message), "\(app.lines)")
        withExtendedLifetime(manager) {}
    }
}
