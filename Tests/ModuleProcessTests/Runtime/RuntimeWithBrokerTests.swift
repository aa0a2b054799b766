import Glibc
import StrataBus
import StrataCore
import Testing

@testable import Strata

/// Two modules and the real broker, all on one loop.
@Suite(.timeLimit(.minutes(1)))
struct RuntimeWithBrokerTests {
    @Test func twoModulesWorkTogether() async throws {
        TestLoop.start
        try await run { app in
            let bus = Bus(app.player)
            #expect(try await bus.open("demo://player.example/play/12", as: Double.self) == 18)
            #expect(app.playerModule.steps == ["setUp", "initialize", "didStart"])
            #expect(try await bus.canOpen("demo://player.example/nothing") == false)
            #expect(try await bus.report(Player.Broken(reason: "dust"), to: "Library") == 1)
            var tracks = 0
            for try await track in try bus.stream(LibraryModule.All(most: 100)) {
                #expect(track == tracks)
                tracks += 1
            }
            #expect(tracks == 100)
            // Down the table, and never back up.
            let library = Bus(app.library)
            try library.broadcast(Library.TrackRemoved(id: 4))
            try bus.broadcast(Library.TrackRemoved(id: 5))
            _ = try await library.call("Player/echo", 1)
            #expect(app.playerModule.removed == [4])
            let error = await #expect(throws: BusError.self) {
                try await bus.call("Library/wait", deadline: .seconds(1))
            }
            #expect(error?.code == "Library.tired")
            let late = await #expect(throws: BusError.self) {
                try await bus.call("Library/wait", ["long": true], deadline: .milliseconds(20))
            }
            #expect(late?.code == .deadlineExceeded)
        }
    }

    @ModuleActor
    private func run(_ test: @ModuleActor (App) async throws -> Void) async throws {
        let app = try App()
        try await app.start()
        do { try await test(app) } catch {
            await app.end()
            throw error
        }
        await app.end()
        #expect(app.exits == [0, 0])
        #expect(app.playerSteps.last == "tearDown")
    }

    @ModuleActor
    private final class App {
        let broker: Broker
        let library: ModuleRuntime
        let player: ModuleRuntime
        private(set) var exits: [Int32] = []
        private(set) var playerSteps: [String] = []
        private var module: PlayerModule?
        private var exited: CheckedContinuation<Void, Never>?

        var playerModule: PlayerModule { player.module as! PlayerModule }  // because it is run as this

        init() throws {
            var table = AppTable(app: "demo")
            table.schemes = ["demo"]
            for (name, rank) in [("Library", 0), ("Player", 1)] {
                var row = AppTable.Row(name: name)
                row.rank = rank
                row.start = .manual
                table.modules.append(row)
            }
            let path = "/tmp/strata-two-\(getpid()).sock"
            broker = try Broker(ModuleExecutor.shared.loop, table: table, path: path)
            var onExit: (Int32) -> Void = { _ in }
            library = ModuleRuntime(LibraryModule.self, Configuration(socket: path)) { code, _ in onExit(code) }
            player = ModuleRuntime(PlayerModule.self, Configuration(socket: path)) { code, _ in onExit(code) }
            onExit = { [unowned self] code in
                self.exits.append(code)
                if self.exits.count == 2 { self.exited?.resume() }
            }
        }

        func start() async throws {
            library.start()
            player.start()
            module = playerModule
            // A call to a module that is starting waits until it is ready.
            _ = try await Bus(library).call("Player/echo")
            _ = try await Bus(player).call("Library/find", ["id": 1])
            while !player.lifeCycle.hasStarted { _ = try await Bus(player).call("bus/ping") }
        }

        func end() async {
            await withCheckedContinuation {
                exited = $0
                broker.shutDown {}
            }
            playerSteps = module?.steps ?? []
        }
    }
}

final class LibraryModule: Module {
    static let name = "Library"
    init(bus: Bus) {}

    struct All: StreamingAction {
        static let name = Library.action("all")
        typealias Element = Int
        var most: Int
    }

    func register(_ exports: inout Exports) {
        exports.action(Library.Find.self) { find, call in
            guard call.from == "Player" else { throw ModuleError("Library.private", "not for \(call.from)") }
            return Library.Track(id: find.id, length: Double(find.id) * 1.5)
        }
        exports.stream(All.self) { request in
            AsyncStream { continuation in
                for id in 0..<request.most { continuation.yield(id) }
                continuation.finish()
            }
        }
        exports.observe(Player.Broken.self) { broken, delivery in
            guard delivery.isReport, broken.reason == "dust" else { throw ModuleError("Library.what", "not dust") }
        }
        exports.action("Library/wait") { call in
            if try call.params["long"]?.bool == true { try await sleep(milliseconds: 60_000) }
            throw ModuleError("Library.tired", "wait yourself")
        }
    }
}
