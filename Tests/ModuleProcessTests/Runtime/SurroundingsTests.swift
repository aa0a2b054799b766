import StrataCore
import Testing

@testable import Strata

/// A module that stands on no loop: its bytes pass in memory, and its time when the test says so.
@Suite(.timeLimit(.hang))
struct SurroundingsTests {
    @ModuleActor
    private final class SleeperModule: Module {
        static let name = "Sleeper"
        private let bus: Bus

        init(bus: Bus) { self.bus = bus }

        func register(_ exports: inout Exports) {
            exports.action("Sleeper/nap") { call in
                try await sleep(milliseconds: 3_600_000)
                let left = self.bus.remaining.map { Int64($0 / .milliseconds(1)) } ?? -1
                return .array([.integer(Int64(self.bus.now)), .integer(left)])
            }
        }
    }

    private func withModule(
        _ test: @ModuleActor (VirtualSurroundings, ModuleRuntime, _ exit: () -> String?) async throws -> Void
    ) async throws {
        TestLoop.start
        try await withTaskExecutorPreference(ModuleExecutor.shared) { try await Self.onLoop(test) }
    }

    @ModuleActor
    private static func onLoop(
        _ test: @ModuleActor (VirtualSurroundings, ModuleRuntime, _ exit: () -> String?) async throws -> Void
    ) async throws {
        let surroundings = VirtualSurroundings()
        var exit: String?
        let runtime = ModuleRuntime(SleeperModule.self, Configuration(socket: "bus"), in: surroundings) {
            exit = "\($0) \($1 ?? "")"
        }
        defer {
            runtime.end(0, nil)
            surroundings.close()
        }
        runtime.start()
        try await surroundings.peer?.welcome()
        try await test(surroundings, runtime) { exit }
    }

    @Test func aHandlersHourPassesAtOnce() async throws {
        try await withModule { surroundings, _, _ in
            let peer = try #require(surroundings.peer)
            let begun = surroundings.now
            _ = peer.send(call: "Sleeper/nap", nil, [JSON.Member("deadline", 4_000_000)])
            await surroundings.until { surroundings.nextAlarm != nil }
            #expect(surroundings.nextAlarm == 3_600_000)
            surroundings.pass(milliseconds: 3_600_000)
            let answer = try await peer.expect("reply")
            #expect(answer.body == .array([.integer(Int64(begun) + 3_600_000), 400_000]))
        }
    }

    @Test func aBusThatStaysAwayIsGivenUpAfterItsTime() async throws {
        try await withModule { surroundings, _, exit in
            await surroundings.busLeaves()
            surroundings.pass(milliseconds: 29_000)
            #expect(exit() == nil)
            surroundings.pass(milliseconds: 2_000)
            #expect(exit()?.contains("tried to come back for 30 s") == true, "\(exit() ?? "runs")")
            #expect(surroundings.nextAlarm == nil)
        }
    }

    @Test func aBusThatComesBackIsFound() async throws {
        try await withModule { surroundings, runtime, exit in
            await surroundings.busLeaves()
            surroundings.pass(milliseconds: 20_000)
            surroundings.isListening = true
            surroundings.pass(milliseconds: Reconnection.longest)
            #expect(surroundings.connections == 2)
            try await surroundings.peer?.welcome()
            await surroundings.until { runtime.connection.session != nil }
            #expect(exit() == nil)
        }
    }
}
