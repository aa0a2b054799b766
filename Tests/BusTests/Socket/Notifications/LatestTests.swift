import StrataCore
import StrataTesting
import Testing

/// The protocol's section 7: `keep: latest` with a full queue of the observer.
@Suite(.timeLimit(.minutes(1)))
struct LatestTests {
    private static let queue = 200_000
    /// The size of a notice that finds no room behind calls of 50,000 bytes.
    private static let large = 60_000

    /// Runs with a callee that reads nothing, and as many calls of 50,000 bytes as its queue
    /// takes. There is still room for small frames.
    private func run(
        observing names: [String], _ test: (_ bus: TestBus, _ sender: RawPeer, _ observer: RawPeer) throws -> Void
    ) throws {
        try TestBus.run(.sixModules { $0.limits.queue = Self.queue }) { bus in
            let sender = try bus.module("Ant")
            let latest: [JSON] = names.map { ["name": .string($0), "keep": "latest"] }
            let observer = try bus.provider("Cat", "Test", ["observes": .array(latest + ["small"])])
            observer.isPaused = true
            var id = try sender.call("Test/act", .filler(50_000))
            while try !sender.isAnswered(id) { id = try sender.call("Test/act", .filler(50_000)) }
            try sender.expectError(to: id, "overloaded", ran: "no")
            try test(bus, sender, observer)
        }
    }

    private func notify(_ name: String, _ number: Int64, of sender: RawPeer) throws {
        #expect(
            try sender.recipients(ofBroadcast: name, ["n": .integer(number), "text": .filler(Self.large)]) == 1)
    }

    /// Returns what comes after the calls that fill the queue, as `state 1` or `Test/act`.
    private func rest(of observer: RawPeer) throws -> [String] {
        observer.isPaused = false
        return try observer.drain().filter { $0.kind == "notice" || $0.body.count < 1_000 }.map { frame in
            guard frame.kind == "notice" else { return frame.to }
            let missed = frame["missed"].map { ", missed \($0)" } ?? ""
            return "\(frame.name) \(frame.json["n"] ?? frame.json)\(missed)"
        }
    }

    @Test(.promise("7.15")) func whatItsSenderSaysLaterComesAfterANoticeThatFoundNoRoom() throws {
        try run(observing: ["state"]) { _, sender, observer in
            try notify("state", 1, of: sender)
            try sender.call("Test/act", 1)
            #expect(try sender.recipients(ofBroadcast: "small", 2) == 1)
            try sender.settle()
            #expect(try rest(of: observer) == ["state 1", "Test/act", "small 2"])
        }
    }

    @Test(.promise("7.15")) func aNewerNoticeTakesItsPlaceAtTheQueuesEnd() throws {
        try run(observing: ["state", "other"]) { _, sender, observer in
            try notify("state", 1, of: sender)
            #expect(try sender.recipients(ofBroadcast: "small", 1) == 1)
            try notify("other", 1, of: sender)
            try notify("state", 2, of: sender)
            #expect(try sender.recipients(ofBroadcast: "small", 2) == 1)
            try notify("state", 3, of: sender)
            #expect(try sender.recipients(ofBroadcast: "small", 3) == 1)
            #expect(
                try rest(of: observer) == ["small 1", "other 1", "small 2", "state 3, missed 2", "small 3"])
        }
    }

    /// The waiting notices have a limit of their own, and are no reason to refuse what has room.
    @Test(.promise("7.15")) func manyThatFindNoRoomEndTheirObserver() throws {
        try run(observing: ["a", "b", "c", "d"]) { bus, sender, observer in
            for name in ["a", "b", "c"] {
                try notify(name, 1, of: sender)
                #expect(try sender.recipients(ofBroadcast: "small", 1) == 1)
            }
            #expect(try sender.recipients(ofBroadcast: "d", .filler(Self.large)) == 0)
            observer.isPaused = false
            let error = try observer.expectEnd("slow-consumer")
            #expect(error.message.contains("Cat") && error.message.contains("(limits.queue)"), "\(error)")
        }
    }
}
