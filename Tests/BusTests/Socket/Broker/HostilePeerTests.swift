import StrataCore
import StrataTesting
import Testing

/// What a peer can't do if it is malicious, or dies at the worst moment.
@Suite(.timeLimit(.hang))
struct HostilePeerTests {
    @Test(.promise("2.6")) func callToItselfBeforeGarbageEndsThePeerAlone() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant", ["interfaces": ["Own": [:]]])
            let other = try bus.module("Bee")
            let call = FrameBytes.frame(Array(#"{"kind":"call","id":7,"to":"Own/x"}"#.utf8))
            try peer.send(bytes: call + FrameBytes.lengths(frame: 2, header: 0))
            try peer.expectEnd("bad-frame")
            try other.settle()
            #expect(try bus.module("Ant").welcome["module"] == "Ant")
        }
    }

    @Test func peerThatDiesWithInputOnItsWayEndsItsSession() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.module("Ant", ["interfaces": ["Own": [:]]])
            let caller = try bus.module("Cat")
            let open = try caller.call("Own/hang", nil, ["deadline": 60_000])
            try callee.expectCall("Own/hang")
            // It doesn't read the answers to what it sends, and closes.
            callee.isPaused = true
            let pings = (0..<20_000).flatMap {
                FrameBytes.frame(Array(#"{"kind":"call","id":\#($0 + 1_000),"to":"bus/ping"}"#.utf8))
            }
            try callee.send(bytes: pings)
            callee.close()
            try caller.expectError(to: open, "died", ran: "maybe")
            _ = try bus.module("Ant")
        }
    }

    @Test(.promise("1.9", "6.1", "R.2")) func requestStillOnItsWayToAnEndedPeerMayHaveRun() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.module("Ant", ["interfaces": ["Own": [:]]])
            let caller = try bus.module("Cat")
            callee.isPaused = true
            let large = JSON.filler(4 << 20)
            let open = try caller.call("Own/large", large)
            try caller.settle()
            try callee.send(bytes: FrameBytes.lengths(frame: 2, header: 0))
            try caller.expectError(to: open, "died", ran: "maybe")
            callee.isPaused = false
            // Its sending had begun, so it arrives whole, and the farewell after it.
            try callee.expectCall("Own/large")
            try callee.expectEnd("bad-frame")
        }
    }

    @Test func aCancelledWatchSendsNothingMoreEvenIfItsSlotIsReused() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.module("Ant", ["interfaces": ["Own": [:]]])
            let caller = try bus.module("Cat")
            let tool = try bus.operator()
            let watch = try tool.call("bus/watch")
            try tool.settle()
            try tool.cancel(watch)
            try tool.expectError(to: watch, "cancelled", ran: "no")
            _ = try tool.drain()
            let open = try caller.call("Own/slow", nil, ["credit": 3])
            let call = try callee.expectCall("Own/slow")
            _ = try bus.module("Bee")
            try tool.expectNothing()
            for number in 0..<3 { try callee.partialReply(to: call, .integer(Int64(number))) }
            try callee.reply(to: call, true)
            try caller.expectReply(to: open, body: true)
        }
    }

    @Test(.promise("12.29")) func longEchoInAnErrorIsCutOff() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.connect()
            let id = try peer.sendHello(String(repeating: "é", count: 30_000))
            let error = try peer.answer(to: id)
            #expect(error.code == "bad-params")
            #expect(error.message.utf8.count < 3_000)
            try peer.expectEnd()
        }
    }

    @Test(.promise("13.4")) func helloOfTooManyInterfacesIsRefusedAtOnce() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.connect()
            let many: [JSON.Member] = (0..<4_000).map { .init("I\($0)", [:]) }
            let id = try peer.sendHello("Ant", ["interfaces": .object(many)])
            #expect(try peer.answer(to: id).code == "overloaded")
        }
    }

    @Test(.promise("13.27")) func remarksWaitUntilThePeerReads() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 64 << 10 }) { bus in
            let peer = try bus.module("Ant")
            let tool = try bus.operator()
            peer.isPaused = true
            // The broker reads only as many frames as the kernel and the queue can hold answers
            // to.
            let frame = FrameBytes.frame(Array(#"{"kind":"nonsense","id":1}"#.utf8))
            #expect(throws: (any Error).self) {
                for _ in 0..<400 {
                    try peer.send(bytes: Array(repeatElement(frame, count: 500).joined()), within: .milliseconds(500))
                }
            }
            let rows = try tool.asked("bus/modules")["modules"]?.array ?? []
            let queued = rows.first { $0["name"] == "Ant" }?["queued"]?.integer ?? -1
            #expect((0..<200_000).contains(queued))
        }
    }

    @Test func cancelledEmitMayHaveRunAndIsCancelledAtItsListener() throws {
        try TestBus.run(.sixModules()) { bus in
            let listener = try bus.module("Ant", ["events": ["e"]])
            listener.answersLifecycle = false
            let tool = try bus.operator()
            let emit = try tool.call("bus/emit", nil, ["name": "e"])
            let call = try listener.expectCall("module/event")
            try tool.cancel(emit)
            try tool.expectError(to: emit, "cancelled", ran: "maybe")
            try listener.expect(["kind": "cancel", "id": .integer(Int64(call.id))])
        }
    }
}
