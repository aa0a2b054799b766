import CoreMetrics
import Glibc
import Strata
import Tracing

/// The module that the system tests run under several names. It provides an interface of its
/// row's name, and misbehaves as `FIXTURE` says.
@main
final class FixtureModule: Module {
    static let name = "Fixture"

    private let bus: Bus
    private let interface = String((environment("STRATA_MODULE") ?? name).prefix { $0 != "~" })
    private let behaviour = environment("FIXTURE") ?? ""
    /// Made with the module, before it connects.
    private let echoes = Counter(label: "fixture.echoes")
    private var setUps = 0
    private var resumes = 0
    private var notices: [JSON] = []
    private var isRetiring = false

    init(bus: Bus) throws {
        self.bus = bus
        if behaviour == "exits at once" {
            print("no disk, no fun")
            exit(7)
        }
        if behaviour == "crashes at once" { preconditionFailure("the disk is away") }
        // All threads block the signal, so the thread that waits for it gets it.
        var release = FixtureModule.release
        pthread_sigmask(SIG_BLOCK, &release, nil)
        if behaviour == "ignores SIGTERM" { signal(SIGTERM, SIG_IGN) }
        if behaviour == "leaves a child" { leaveChild() }
    }

    func register(_ exports: inout Exports) {
        exports.bytes("\(interface)/echo") { [echoes] call in
            echoes.increment()
            return call.body
        }
        exports.action("\(interface)/hang") { _ in
            while true { try await Strata.sleep(milliseconds: 3_600_000) }
        }
        exports.action("\(interface)/nap") { call in
            try await Strata.sleep(milliseconds: Int(try call.params["milliseconds"]?.integer ?? 0))
            return ["pid": .integer(Int64(getpid()))]
        }
        // Continues until another process takes over.
        exports.stream("\(interface)/ticks") { [self] _ in
            // The stream's closure holds it until the stream ends, in whatever state.
            let end = SaidAtTheEnd(line: "ticks end")
            return AsyncThrowingStream { @ModuleActor [self] () -> JSON? in
                defer { withExtendedLifetime(end) {} }
                if isRetiring { throw ModuleError(.replaced, "this process ends: ask again") }
                try await Strata.sleep(milliseconds: 1)
                return true
            }
        }
        exports.action("\(interface)/wait") { _ in
            try await blocking { FixtureModule.waitForRelease() }
            return .integer(Int64(getpid()))
        }
        exports.action("\(interface)/crash") { _ in
            kill(getpid(), SIGKILL)
            return .null
        }
        exports.action("\(interface)/guarded", auth: behaviour == "is guarded") { _ in true }
        exports.action("\(interface)/exit") { call in exit(Int32(try call.params["code"]?.integer ?? 0)) }
        // The loop's thread never returns.
        exports.action("\(interface)/block") { _ in
            while true { pause() }
        }
        exports.action("\(interface)/facts") { [self] _ in
            [
                "pid": .integer(Int64(getpid())), "setUps": .integer(Int64(setUps)),
                "resumes": .integer(Int64(resumes)), "notices": .array(notices),
            ]
        }
        exports.action("\(interface)/call") { [bus] call in
            let params = try call.params
            return try await bus.call(params["to"]?.string ?? "", params["body"] ?? .null)
        }
        exports.action("\(interface)/open") { [bus] call in try await bus.open(try call.params["url"]?.string ?? "") }
        exports.action("\(interface)/span") { [bus] call in
            let to = try call.params["to"]?.string ?? ""
            return try await withSpan("own work") { _ in try await bus.call(to) }
        }
        exports.action("\(interface)/broadcast") { [bus] call in
            try bus.broadcast(try call.params["name"]?.string ?? "")
            return true
        }
        exports.action("\(interface)/report") { [bus] call in
            let params = try call.params
            let observers = try await bus.report(params["name"]?.string ?? "", to: params["to"]?.string ?? "")
            return .integer(Int64(observers))
        }
        for event in ["reload", "memoryPressure", "suspend", "resume", "terminate"] {
            exports.event("app.\(event)") { [behaviour] call in
                print("event app.\(event) \(try call.params)")
                if behaviour == "hangs in events" { try await Strata.sleep(milliseconds: 3_600_000) }
            }
        }
        exports.url("\(interface.lowercased()).fixture", "/show/:what", to: "\(interface)/echo")
        exports.observe("news") { [self] delivery in
            notices.append(["name": .string(delivery.name), "from": .string(delivery.from)])
        }
    }

    func setUp(_ context: Context) async throws {
        setUps += 1
        print("setUp \(interface)")
        if behaviour == "waits in setUp" {
            print("waits in setUp")
            try await blocking { FixtureModule.waitForRelease() }
        }
        if behaviour == "fails in setUp" { throw ModuleError("Fixture.no-disk", "the disk is away") }
        if behaviour == "hangs in setUp" { try await Strata.sleep(milliseconds: 3_600_000) }
    }

    func initialize() async throws {
        if behaviour == "hangs in initialize" { try await Strata.sleep(milliseconds: 3_600_000) }
    }

    func didStart() async throws {
        if behaviour == "fails in the background" {
            try bus.background("the feed") { throw ModuleError("Fixture.no-feed", "the feed is away") }
        }
    }

    func retiring() async throws {
        print("retiring \(interface)")
        isRetiring = true
    }

    func tearDown() async throws {
        print("tearDown \(interface)")
        if behaviour == "hangs in tearDown" { try await Strata.sleep(milliseconds: 3_600_000) }
    }

    func resumed() async throws { resumes += 1 }

    /// The signal set with SIGUSR1.
    private nonisolated static var release: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGUSR1)
        return set
    }

    private nonisolated static func waitForRelease() {
        var (release, number) = (release, Int32(0))
        sigwait(&release, &number)
    }

    /// Starts a process in a session of its own, which only a subreaper finds.
    private func leaveChild() {
        var pid: pid_t = 0
        let words: [UnsafeMutablePointer<CChar>?] =
            ["setsid", "sleep", "3600"].map { (word: String) in strdup(word) } + [nil]
        posix_spawnp(&pid, "setsid", nil, nil, words, environ)
    }
}

private func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// A line that is printed when nobody holds it any longer.
private final class SaidAtTheEnd: Sendable {
    private let line: String

    init(line: String) { self.line = line }

    deinit { print(line) }
}
