import StrataCore
import Testing

@testable import Strata

@Suite(.timeLimit(.hang))
struct RuntimeTopicTests {
    /// Begins a stream, and returns its id once it is read.
    @ModuleActor
    private func begin(
        _ to: String, credit: Int64, _ peer: FakePeer, _ body: JSON? = nil
    ) async throws -> Int64 {
        let id = peer.send(call: to, body, [.init("credit", .integer(credit))])
        #expect(try await peer.call("Rules/echo", 1).body == 1)
        return id
    }

    @Test(.promise("S.1")) func whatIsSentGoesToEachReader() async throws {
        try await withModule(RulesModule.self) { harness in
            try await harness.start()
            let (peer, topic) = (harness.peer!, harness.module.latest)
            try await topic.send(1)
            let one = try await begin("Rules/latest", credit: 8, peer)
            let other = try await begin("Rules/latest", credit: 8, peer)
            #expect(topic.readers == 2)
            try await topic.send(2)
            #expect(topic.sendNow(3))
            var got: [Int64: [JSON]] = [:]
            for _ in 0..<4 {
                let part = try await peer.expect("reply")
                #expect(part["more"] == true && part["meta"] == nil)
                got[part.id.integer!, default: []].append(part.body)
            }
            #expect(got == [one: [2, 3], other: [2, 3]])
            peer.send(["kind": "cancel", "id": .integer(one)])
            #expect(try await peer.expect("error")["code"] == "cancelled")
            #expect(topic.readers == 1)
            topic.finish()
            let end = try await peer.expect("reply")
            #expect(end.id == .integer(other) && end["more"] == nil)
            try await topic.send(4)
            #expect(try await peer.call("Rules/latest").kind == "reply")
            #expect(topic.readers == 0)
        }
    }

    @Test(.promise("S.1")) func aReaderBeginsWithThePresentStateAndGetsWhatItWants() async throws {
        try await withModule(RulesModule.self) { harness in
            try await harness.start()
            let (peer, topic) = (harness.peer!, harness.module.latest)
            _ = try await begin("Rules/latest", credit: 0, peer, ["least": 5])
            for number in [4, 6, 3, 7] { try await topic.send(number) }
            peer.send(["kind": "credit", "id": .integer(101), "credit": 8])
            for expected in [5, 6, 7] as [JSON] {
                let part = try await peer.expect("reply")
                #expect(part.body == expected && part["meta"] == nil)
            }
        }
    }

    @Test(.promise("S.2")) func aSlowReaderLosesTheOldestAndIsToldHowMany() async throws {
        try await withModule(RulesModule.self) { harness in
            try await harness.start()
            let (peer, topic) = (harness.peer!, harness.module.latest)
            let id = try await begin("Rules/latest", credit: 0, peer)
            // One element is made ahead, and two are kept.
            try await topic.send(1)
            _ = try await peer.call("Rules/echo", 1)
            for number in 2...6 { try await topic.send(number) }
            peer.send(["kind": "credit", "id": .integer(id), "credit": 8])
            let parts = [
                try await peer.expect("reply"), try await peer.expect("reply"), try await peer.expect("reply"),
            ]
            #expect(parts.map(\.body) == [1, 5, 6])
            #expect(parts.map { $0["meta"] } == [nil, ["missed": 3], nil])
        }
    }

    @Test(.promise("S.2")) func sendsWaitForTheSlowestReaderInTheirOrder() async throws {
        try await withModule(RulesModule.self) { harness in
            try await harness.start()
            let (peer, topic) = (harness.peer!, harness.module.all)
            let slow = try await begin("Rules/all", credit: 0, peer)
            let quick = try await begin("Rules/all", credit: 16, peer)
            try await topic.send(1)
            _ = try await peer.expect("reply")
            try await topic.send(2)
            try await topic.send(3)
            for expected in [2, 3] as [JSON] { #expect(try await peer.expect("reply").body == expected) }
            #expect(!topic.sendNow(9))
            let waiting = [4, 5, 6].map { number in
                Task.immediate { @ModuleActor in try await topic.send(number) }
            }
            waiting[1].cancel()
            await #expect(throws: CancellationError.self) { try await waiting[1].value }
            // None of them was sent to anybody.
            #expect(try await peer.call("Rules/echo", 1).body == 1)
            peer.send(["kind": "credit", "id": .integer(slow), "credit": 1])
            #expect(try await peer.expect("reply").body == 1)
            #expect(try await peer.expect("reply").body == 4)
            try await waiting[0].value
            // The end of the slow reader makes room.
            peer.send(["kind": "cancel", "id": .integer(slow)])
            #expect(try await peer.expect("error")["code"] == "cancelled")
            let last = try await peer.expect("reply")
            #expect(last.body == 6 && last.id == .integer(quick))
            try await waiting[2].value
        }
    }

    @Test(.promise("S.2")) func aLaterSendDoesNotOvertakeOneThatIsAboutToGoOn() async throws {
        try await withModule(RulesModule.self) { harness in
            try await harness.start()
            let topic = harness.module.all
            let reader = topic.read(for: "Rules/all", where: nil) { _ in }
            for number in [1, 2] { #expect(topic.sendNow(number)) }
            let first = Task.immediate { @ModuleActor in try await topic.send(3) }
            #expect(try await reader.next()?.0 == 1)
            let second = Task.immediate { @ModuleActor in try await topic.send(4) }
            for expected in 2...4 { #expect(try await reader.next()?.0 == expected) }
            try await first.value
            try await second.value
        }
    }

    @Test(.promise("S.2")) func aSlowReaderIsEnded() async throws {
        try await withModule(RulesModule.self) { harness in
            try await harness.start()
            let (peer, topic) = (harness.peer!, harness.module.quick)
            let slow = try await begin("Rules/quick", credit: 0, peer)
            let quick = try await begin("Rules/quick", credit: 16, peer)
            for number in 1...3 as ClosedRange<Int64> {
                try await topic.send(Int(number))
                #expect(try await peer.expect("reply").body == .integer(number))
            }
            try await topic.send(4)
            let (one, two) = (try await peer.expect("error"), try await peer.expect("reply"))
            #expect(one.id == .integer(slow) && one["code"] == "overloaded" && one["ran"] == "yes")
            #expect(one["message"]?.string?.contains("left 2 elements unread") == true)
            #expect(two.id == .integer(quick) && two.body == 4)
            #expect(topic.readers == 1)
        }
    }

    @Test(.promise("S.3")) func topicsEndWhenAnotherProcessTakesOver() async throws {
        try await withModule(RulesModule.self) { harness in
            try await harness.startFully()
            let peer = harness.peer!
            let id = try await begin("Rules/latest", credit: 8, peer)
            let retiring = peer.send(call: "module/retiring")
            let (one, two) = (try await peer.expect("reply"), try await peer.expect("error"))
            #expect(one.id == .integer(retiring))
            #expect(two.id == .integer(id) && two["code"] == "replaced")
            // The module's own part comes first.
            #expect(harness.module.retired == 1)
        }
    }

    @Test(.promise("S.4")) func sequencesAreStreams() async throws {
        try await withModule(RulesModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            for (to, elements) in [("Rules/list", [1, 2, 3]), ("Rules/lines", ["one", "two"])] as [(String, [JSON])] {
                _ = peer.send(call: to)
                for element in elements { #expect(try await peer.expect("reply").body == element) }
                #expect(try await peer.expect("reply")["more"] == nil)
            }
        }
    }

    @Test(.promise("S.4")) func helloMarksStreams() async throws {
        try await withModule(RulesModule.self) { harness in
            harness.runtime.start()
            let hello = try await harness.broker.peer().welcome()
            let actions = hello.body["interfaces"]?["Rules"]?["actions"]
            #expect(actions?["latest"] == ["stream": true] && actions?["echo"] == [:])
        }
    }

    @Test func aReaderSaysHowMuchItTakesAhead() async throws {
        try await withModule(RulesModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            _ = try await peer.call("module/ping")
            let bus = Bus(harness.runtime)
            let stream = try bus.stream(Rules.All(), credit: 2)
            let call = try await peer.expect("call")
            #expect(call["credit"] == 2)
            peer.send(["kind": "reply", "id": call.id, "more": true, "meta": ["missed": 7]], 1)
            var reader = stream.makeAsyncIterator()
            #expect(try await reader.next(isolation: ModuleActor.shared) == 1)
            #expect(reader.missed == 7)
            #expect(try await peer.expect("credit")["credit"] == 1)
        }
    }
}
