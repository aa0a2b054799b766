import StrataCore
import StrataTesting
import Testing

/// The protocol's sections 1, 4 and 12: the last frame that the broker sends to a peer whose
/// connection it ends, and how long that may take.
@Suite(.timeLimit(.hang))
struct EndingTests {
    /// Ends a connection in one way, and returns its last frame.
    private func lastFrame(_ code: String) throws -> ReceivedFrame {
        let table = AppTable.testing(.eager("Login"), .manual("Ant")) {
            $0.hello = code == "not-registered" ? 50 : 10_000
        }
        let other = try ChildProgram("/bin/cat", ["/dev/zero"])
        defer { other.kill() }
        return try TestBus.run(table) { bus in
            switch code {
            case "not-registered": return try bus.connect().expectEnd(code)
            case "failed":
                let peer = try bus.connect()
                try peer.hello("Ant")
                try peer.fail(try peer.expectCall("module/setUp"), "Ant.broken")
                return try peer.expectEnd(code)
            default:
                let token = try bus.vouch(for: "Login")
                let peer = try bus.module("Login", ["token": .string(token)])
                try bus.vouch(for: "Login", pid: other.pid)
                return try peer.expectEnd(code)
            }
        }
    }

    @Test(.promise("4.9", "12.4", "12.7", "12.8"), arguments: ["not-registered", "failed", "shutting-down"])
    func theLastErrorHasNoIDAndSaysThatNothingRan(code: String) throws {
        let error = try lastFrame(code)
        #expect(error["id"] == nil && error.ran == "no" && !error.message.isEmpty, "\(error)")
    }

    @Test(
        .promise("12.11", "12.12"),
        arguments: [
            ("bad-id", #"{"kind":"call","to":"bus/ping"}"#), ("bad-id", #"{"kind":"call","id":7,"to":"bus/ping"}"#),
            ("unknown-kind", #"{"kind":"dance"}"#),
        ])
    func aRemarkHasNoIDAndSaysThatNothingRan(code: String, header: String) throws {
        try TestBus.run(.sixModules()) { bus in
            _ = try bus.provider("Ant", "Test")
            let peer = try bus.module("Bee")
            try peer.call("Test/act", id: 7)
            try peer.send(header: header)
            let remark = try peer.expectRemark(code)
            #expect(remark.ran == "no" && !remark.message.isEmpty, "\(remark)")
            try peer.expectNothing()
        }
    }

    /// A peer that reads nothing has 2 s for its last bytes, by the broker's clock.
    @Test(.promise("1.8", "1.10")) func aPeerThatDoesNotReadItsLastFrameIsClosed() throws {
        try TestBus.run(.sixModules()) { bus in
            let peer = try bus.provider("Ant", "Own")
            let caller = try bus.provider("Bee", "Clock")
            peer.isPaused = true
            let open = try caller.call("Own/large", .filler(4 << 20))
            try caller.settle()
            try peer.send(bytes: FrameBytes.lengths(frame: 2, header: 0))
            // Its session has ended at once, and its name is free.
            try caller.expectError(to: open, "died", ran: "maybe")
            _ = try bus.module("Ant")
            let clock = try caller.call("Clock/tick", nil, ["deadline": 2_100])
            try caller.expectCall("Clock/tick")
            try caller.expectError(to: clock, "deadline-exceeded")
            peer.isPaused = false
            let failure = #expect(throws: TestFailure.self) { try peer.expectEnd() }
            #expect(failure?.description.contains("within a frame") == true)
        }
    }

    /// The peer could be written to again and had ended its writing, both at the same time. The
    /// frames that waited were handled then, and ended it.
    @Test(.promise("1.9")) func aPeerThatIsEndedByItsWaitingFramesGetsItsLastError() throws {
        let table = AppTable.sixModules { $0.limits.queue = 300_000 }
        try TestBus.run(table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let owner = try bus.provider("Ant", "Big")
            let peer = try bus.provider("Cat", "Sink")
            let tool = try bus.operator()
            peer.isPaused = true
            // Over the limit, and twice what a socket takes. After it comes as much as may wait,
            // and the second time takes a part of that.
            try peer.call("Big/act")
            try owner.reply(to: try owner.expectCall("Big/act"), .filler(320_000))
            for _ in 0..<40 { try owner.call("Sink/act", .filler(10_000)) }
            try owner.find(["kind": "error", "code": "overloaded"])
            // The first frame waits until the answer is written, and the next frame waits with
            // it.
            let late = FrameBytes.frame(["kind": "broadcast", "name": "late"])
            try peer.send(bytes: late + FrameBytes.frame(Array("no JSON".utf8)))
            for _ in 0..<2 { try tool.settle() }
            try bus.whileBrokerIsHalted {
                // The peer reads what its socket held, so the socket has room again.
                _ = try peer.nextIfAny(within: .zero)
                peer.endWriting()
            }
            // Reading in the meantime would make room for everything at once.
            for _ in 0..<2 { try tool.settle() }
            peer.isPaused = false
            try peer.expectEnd("bad-header")
        }
    }

    @Test(.promise("11.20", "R.1")) func aSlowConsumerGetsNoMoreAnswersAndItsCallsEndAsDied() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 200_000 }) { bus in
            let slow = try bus.provider("Cat", "Slow", ["observes": ["news"]])
            let sender = try bus.provider("Ant", "Quick")
            let served = try sender.call("Slow/act")
            try slow.expectCall("Slow/act")
            let made = try slow.call("Quick/act")
            let call = try sender.expectCall("Quick/act")
            slow.isPaused = true
            while try sender.recipients(ofBroadcast: "news", .filler(60_000)) == 1 {}
            try sender.expectError(to: served, "died", ran: "maybe")
            // The answer to its request is no longer awaited.
            try sender.expect(["kind": "cancel", "id": call.number])
            try sender.reply(to: call)
            slow.isPaused = false
            try slow.expectEnd("slow-consumer")
            #expect(!slow.inbox.contains { $0.id == made })
        }
    }

    @Test(.promise("11.19")) func whileTheAppEndsNobodyIsLetIn() throws {
        try TestBus.run(.sixModules()) { bus in
            let last = try bus.module("Cat")
            last.answersLifecycle = false
            bus.beginShutDown()
            let tearDown = try last.expectCall("module/tearDown")
            let late = try bus.connect()
            try late.expectRefusal(of: try late.sendHello("Ant"), "shutting-down")
            try last.reply(to: tearDown)
            try last.expectEnd("shutting-down")
            try bus.waitUntilEnded()
        }
    }

    @Test(.promise("2.7")) func whatIsForwardedIsAtMostOneKiBLarger() throws {
        let table = AppTable.sixModules {
            $0.limits.header = 2_000
            $0.limits.frame = 4_000
        }
        try TestBus.run(table) { bus in
            let callee = try bus.provider("Ant", "Test", ["observes": ["news"]])
            let caller = try bus.module("Bee2")
            let report = #"{"kind":"report","id":9007199254740991,"to":"Ant","name":"news","object":""#
            let object = String(repeating: "o", count: 2_000 - report.utf8.count - 2)
            let header = Array("\(report)\(object)\"}".utf8)
            let body = [UInt8](repeating: UInt8(ascii: "1"), count: 4_000 - 4 - header.count)
            #expect(header.count == 2_000)
            try caller.send(bytes: FrameBytes.frame(header, body: body))
            let notice = try callee.expectNotice("news")
            #expect((2_001...3_024).contains(notice.headerBytes.count), "\(notice.headerBytes.count)")
            #expect(notice.body == body)
            try callee.reply(to: notice)
            try caller.expectReply(to: 9_007_199_254_740_991)
        }
    }
}
