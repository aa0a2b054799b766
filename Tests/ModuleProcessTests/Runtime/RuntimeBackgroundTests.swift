import StrataCore
import Testing

@testable import Strata

/// Background work that fails: the module ends, tries again, or continues without it.
@Suite(.timeLimit(.minutes(5)))
struct RuntimeBackgroundTests {
    @Test(.promise("R.10")) func workThatFailsEndsTheModuleInOrder() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let (module, bus) = (harness.module, Bus(harness.runtime))
            var wasCancelled = false
            let other = try bus.background("other work") {
                do { try await sleep(milliseconds: 60_000) } catch { wasCancelled = true }
            }
            try bus.background("the feed") { throw PlayerModule.Unexpected() }
            await harness.ended()
            #expect(harness.exit?.code == 1)
            #expect(harness.exit?.line == "background work \"the feed\" failed: the motor is stuck")
            #expect(module.steps == ["setUp", "initialize", "didStart", "tearDown"])
            await other.value
            #expect(wasCancelled)
        }
    }

    @Test func theReasonIsOneLine() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            try Bus(harness.runtime).background { throw ModuleError("Player.torn", "the tape\nis\n\ntorn") }
            await harness.ended()
            #expect(harness.exit?.line == "background work failed: Player.torn: the tape is torn")
        }
    }

    @Test func aTornRequestIsAFailureToo() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let bus = Bus(harness.runtime)
            try bus.background("the feed") { try await bus.call("Other/work") }
            harness.peer.fail(try await harness.peer.expect("call"), "cancelled", "its parent has ended")
            await harness.ended()
            #expect(harness.exit?.line == "background work \"the feed\" failed: cancelled: its parent has ended")
        }
    }

    @Test func workIsTriedAgainAtABoundedRate() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let bus = Bus(harness.runtime)
            var begins: [UInt64] = []
            let task = try bus.background("the feed", onFailure: .retry(after: .zero)) {
                begins.append(bus.now)
                if begins.count < 3 { throw PlayerModule.Unexpected() }
            }
            await task.value
            #expect(begins.count == 3 && begins[2] - begins[0] >= 200, "\(begins)")
            #expect(harness.exit == nil)
        }
    }

    @Test func thePauseEndsWithTheModule() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            var hasBegun = false
            let task = try Bus(harness.runtime).background("the feed", onFailure: .retry(after: .seconds(3_600))) {
                hasBegun = true
                throw PlayerModule.Unexpected()
            }
            _ = try await harness.peer.call("Player/echo", 1)
            #expect(hasBegun)
            #expect(try await harness.peer.call("module/tearDown").kind == "reply")
            await task.value
            #expect(harness.exit == nil)
        }
    }

    @Test func whatIsOnlyLoggedEndsNothing() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let task = try Bus(harness.runtime).background("the feed", onFailure: .log) {
                throw PlayerModule.Unexpected()
            }
            await task.value
            #expect(try await harness.peer.call("Player/echo", 1).body == 1)
            #expect(harness.exit == nil)
        }
    }

    @Test func whatItThrowsWhenItIsCancelledIsNoFailure() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let task = try Bus(harness.runtime).background("the feed") {
                do { try await sleep(milliseconds: 60_000) } catch { throw PlayerModule.Unexpected() }
            }
            #expect(try await harness.peer.call("module/tearDown").kind == "reply")
            await task.value
            #expect(harness.exit == nil && harness.module.steps.last == "tearDown")
        }
    }
}
