import StrataCore
import Testing

@testable import Strata

@Suite(.timeLimit(.hang))
struct RuntimeStreamTests {
    @Test func aStreamSendsNoMoreThanItsCredit() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let id = peer.send(call: "Player/positions", ["most": 5], [.init("credit", 2)])
            for position in 0..<2 {
                let part = try await peer.expect("reply")
                #expect(part.id == .integer(id))
                #expect(part["more"] == true)
                #expect(part.body == .integer(Int64(position)))
            }
            // Nothing comes between the second reply and this round trip.
            #expect(try await peer.call("Player/echo", 1).body == 1)
            peer.send(["kind": "credit", "id": .integer(id), "credit": 3])
            for position in 2..<5 {
                #expect(try await peer.expect("reply").body == .integer(Int64(position)))
            }
            let last = try await peer.expect("reply")
            #expect(last.id == .integer(id))
            #expect(last["more"] == nil)
        }
    }

    @Test func aCancelledStreamEnds() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let id = peer.send(call: "Player/positions", ["most": 5], [.init("credit", 1)])
            _ = try await peer.expect("reply")
            peer.send(["kind": "cancel", "id": .integer(id)])
            let answer = try await peer.expect("error")
            #expect(answer.id == .integer(id))
            #expect(answer["code"] == "cancelled")
        }
    }

    @Test func aCallerTakesAStreamAndGivesCredit() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            _ = try await peer.call("module/ping")
            let bus = Bus(harness.runtime)
            let stream = try bus.stream(Player.Positions(most: 20))
            let call = try await peer.expect("call")
            #expect(call["credit"] == 16)
            #expect(call["deadline"] == 0)
            for position in 0..<16 {
                peer.send(["kind": "reply", "id": call.id, "more": true], .integer(Int64(position)))
            }
            let reader = Task { @ModuleActor in
                var got: [Int] = []
                for try await position in stream { got.append(position) }
                return got
            }
            for _ in 0..<2 {
                let credit = try await peer.expect("credit")
                #expect(credit.id == call.id)
                #expect(credit["credit"] == 8)
            }
            peer.send(["kind": "reply", "id": call.id, "more": true], 16)
            peer.reply(call, nil)
            #expect(try await reader.value == Array(0...16))
        }
    }

    @Test func aStreamThatFailsThrows() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            _ = try await peer.call("module/ping")
            let stream = try Bus(harness.runtime).stream("Other/lines")
            let call = try await peer.expect("call")
            peer.send(["kind": "reply", "id": call.id, "more": true], "one")
            peer.fail(call, "died", ran: "maybe")
            var got: [JSON] = []
            let error = await #expect(throws: BusError.self) {
                for try await line in stream { got.append(line) }
            }
            #expect(error?.code == .died)
            #expect(got == ["one"])
        }
    }

    @Test func aReaderThatIsCancelledNeverTakesAPartForTheWhole() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            _ = try await peer.call("module/ping")
            let stream = try Bus(harness.runtime).stream("Other/lines")
            let call = try await peer.expect("call")
            for line in ["one", "two"] as [JSON] { peer.send(["kind": "reply", "id": call.id, "more": true], line) }
            peer.reply(call, nil)
            // All of it has arrived, and nothing was read.
            #expect(try await peer.call("Player/echo", 1).body == 1)
            let reader = Task { @ModuleActor in
                var got: [JSON] = []
                for try await line in stream { got.append(line) }
                return got
            }
            reader.cancel()
            let error = await #expect(throws: BusError.self) { try await reader.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func aDroppedStreamIsCancelled() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let call: FakeFrame
            _ = try await peer.call("module/ping")
            do {
                let stream = try Bus(harness.runtime).stream(Player.Positions(most: 20))
                call = try await peer.expect("call")
                peer.send(["kind": "reply", "id": call.id, "more": true], 0)
                for try await _ in stream { break }
            }
            let cancel = try await peer.expect("cancel")
            #expect(cancel.id == call.id)
        }
    }

    @Test func aStreamBeforeTheConnectionWaitsForIt() async throws {
        try await withModule(PlayerModule.self) { harness in
            let stream = try Bus(harness.runtime).stream("Other/lines", deadline: .seconds(3_600))
            let reader = Task { @ModuleActor in
                var got: [JSON] = []
                for try await line in stream { got.append(line) }
                return got
            }
            try await harness.start()
            let call = try await harness.peer.expect("call")
            harness.peer.send(["kind": "reply", "id": call.id, "more": true], "one")
            harness.peer.reply(call, nil)
            #expect(try await reader.value == ["one"])
        }
    }
}
