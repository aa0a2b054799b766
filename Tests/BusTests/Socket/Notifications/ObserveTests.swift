import StrataCore
import StrataTesting
import Testing

/// The protocol's section 7: when observations made later begin and end.
@Suite(.timeLimit(.hang))
struct ObserveTests {
    @Test(.promise("7.12")) func observeIsAnsweredBeforeItsFirstNotice() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            let observer = try bus.module("Cat")
            for _ in 0..<20 {
                let id = try observer.call("bus/observe", ["name": "news"])
                for _ in 0..<20 { try sender.send(["kind": "broadcast", "name": "news"]) }
                try sender.settle()
                let came = try observer.drain()
                #expect(came.first?.kind == "reply" && came.first?.id == id)
                let subscription = came.first?.json["subscription"] ?? .null
                #expect(came.dropFirst().allSatisfy { $0["subscription"] == subscription })
                try observer.asked("bus/unobserve", ["subscription": subscription])
            }
        }
    }

    @Test(.promise("7.12")) func afterTheAnswerToUnobserveNoNoticeComes() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Ant")
            let observer = try bus.module("Cat", ["observes": ["news"]])
            let subscription = observer.welcome["subscriptions"]?.array?[0] ?? .null
            for _ in 0..<50 { try sender.send(["kind": "broadcast", "name": "news"]) }
            let id = try observer.call("bus/unobserve", ["subscription": subscription])
            let came = try observer.drain()
            #expect(came.last?.kind == "reply" && came.last?.id == id)
            #expect(came.dropLast().allSatisfy { $0.kind == "notice" })
            #expect(try sender.recipients(ofBroadcast: "news") == 0)
            try observer.expectNothing()
        }
    }

    /// A notice that found no room counts for its observer only while its observation lives.
    @Test(.promise("7.12", "7.15")) func whatWaitsForAnEndedObservationIsForgotten() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 200_000 }) { bus in
            let sender = try bus.module("Ant")
            let observer = try bus.provider("Cat", "Test")
            observer.isPaused = true
            // Calls leave no room for a notice of this size.
            var calls = 0
            while true {
                let id = try sender.call("Test/act", .filler(50_000))
                try sender.settle()
                if sender.inbox.contains(where: { $0.id == id }) { break }
                calls += 1
            }
            try sender.find(["kind": "error", "code": "overloaded"])
            for number in 1...3 as ClosedRange<Int64> {
                try observer.call("bus/observe", ["name": "state", "keep": "latest"])
                while try sender.recipients(ofBroadcast: "state", .filler(120_000)) == 0 {}
                try observer.call("bus/unobserve", ["subscription": .integer(number)])
                while try sender.recipients(ofBroadcast: "state", .filler(120_000)) == 1 {}
            }
            observer.isPaused = false
            for _ in 0..<calls { try observer.expectCall("Test/act") }
            // It was never too slow, and no notice of an ended observation comes.
            let came = try observer.drain()
            #expect(came.allSatisfy { $0.kind == "reply" }, "\(came)")
        }
    }
}
