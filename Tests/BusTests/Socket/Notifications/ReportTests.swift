import StrataCore
import StrataTesting
import Testing

/// The protocol's section 7: reports and their answers.
@Suite(.timeLimit(.hang))
struct ReportTests {
    private func reporting(_ observes: JSON, _ test: (TestBus, RawPeer, RawPeer) throws -> Void) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let target = try bus.module("Ant", ["observes": observes])
            try test(bus, try bus.module("Cat"), target)
        }
    }

    @Test(.promise("4.5", "7.7")) func aReportIsAnsweredWhenAllObserversHaveReplied() throws {
        try reporting(["news", "news", "other"]) { bus, sender, target in
            let id = try sender.report("news", to: "Ant", ["n": 1])
            let notices = try [target.expectNotice("news"), target.expectNotice("news")]
            #expect(notices[0].id != notices[1].id)
            #expect(notices[0]["subscription"] != notices[1]["subscription"])
            try target.reply(to: notices[1])
            try target.settle()
            try sender.expectNothing()
            try target.reply(to: notices[0])
            try sender.expectReply(to: id, body: ["observers": 2])
        }
    }

    @Test(.promise("7.7")) func aReportThatNobodyObservesIsAnsweredWithNone() throws {
        try reporting(["other", ["name": "news", "object": "a"]]) { bus, sender, target in
            try sender.expectReply(to: try sender.report("news", to: "Ant"), body: ["observers": 0])
            try sender.expectReply(
                to: try sender.report("news", to: "Ant", nil, ["object": "b"]), body: ["observers": 0])
            let id = try sender.report("news", to: "Ant", nil, ["object": "a"])
            try target.reply(to: try target.expectNotice("news", nil, ["object": "a"]))
            try sender.expectReply(to: id, body: ["observers": 1])
        }
    }

    @Test(.promise("7.7")) func theFirstErrorIsTheReportsAtOnce() throws {
        try reporting(["news", "news"]) { bus, sender, target in
            let id = try sender.report("news", to: "Ant")
            let first = try target.expectNotice("news")
            let second = try target.expectNotice("news")
            try target.fail(second, "Ant.full", "no room")
            #expect(try sender.expectError(to: id, "Ant.full", ran: "yes").message == "no room")
            try target.reply(to: first)
            try target.settle()
            try sender.expectNothing()
        }
    }

    @Test(.promise("7.7")) func anObserversErrorComesWithAllThatItHas() throws {
        try reporting(["news"]) { bus, sender, target in
            let id = try sender.report("news", to: "Ant")
            let notice = try target.expectNotice("news")
            try target.send(
                header: #"{"kind":"error","id":\#(notice.id),"code":"Ant.full","message":"m","trace":"t3","#
                    + #""meta":{ "q":3}}"#, body: #""why""#)
            let error = try sender.expectError(to: id, "Ant.full", ran: "yes")
            #expect(error.json == "why" && error["trace"] == "t3")
            #expect(String(decoding: error.headerBytes, as: UTF8.self).contains(#""meta":{ "q":3}"#), "\(error)")
        }
    }

    @Test(.promise("7.9")) func aPartialReplyToANoticeIsDropped() throws {
        try reporting(["news"]) { bus, sender, target in
            let id = try sender.report("news", to: "Ant")
            let notice = try target.expectNotice("news")
            try target.partialReply(to: notice)
            try target.settle()
            try sender.expectNothing()
            try target.reply(to: notice)
            try sender.expectReply(to: id, body: ["observers": 1])
        }
    }

    @Test(.promise("3.7", "7.6", "12.13"), arguments: ["Nobody", "ant", "", "bus"])
    func aTargetThatNobodyNamesIsUnknown(target: String) throws {
        try reporting([]) { bus, sender, _ in
            try sender.expectError(to: try sender.report("news", to: target), "unknown-module", ran: "no")
        }
    }

    @Test(.promise("7.6")) func aTargetThatIsNotThereIsUnavailable() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Cat")
            try sender.expectError(to: try sender.report("news", to: "Ant"), "unavailable", ran: "no")
        }
    }

    @Test(.promise("7.8")) func theTargetsDeathEndsTheReport() throws {
        try reporting(["news"]) { bus, sender, target in
            let id = try sender.report("news", to: "Ant")
            try target.expectNotice("news")
            target.close()
            try sender.expectError(to: id, "died", ran: "maybe")
        }
    }

    @Test(.promise("7.8")) func aReportEndsAtItsDeadlineAndByCancel() throws {
        try reporting(["news"]) { bus, sender, target in
            let late = try sender.report("news", to: "Ant", nil, ["deadline": 30])
            let first = try target.expectNotice("news")
            try sender.expectError(to: late, "deadline-exceeded", ran: "maybe")
            try target.expect(["kind": "cancel", "id": first["id"] ?? .null])
            let given = try sender.report("news", to: "Ant")
            let second = try target.expectNotice("news")
            try sender.cancel(given)
            try sender.expectError(to: given, "cancelled", ran: "maybe")
            try target.expect(["kind": "cancel", "id": second["id"] ?? .null])
            try target.reply(to: second)
            try target.expectNothing()
        }
    }

    @Test(.promise("6.4")) func reportsWaitForAModuleThatStarts() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let sender = try bus.module("Cat")
            let target = try bus.connect("Ant")
            try target.hello("Ant", ["observes": ["news"]])
            let id = try sender.report("news", to: "Ant", ["n": 1])
            try sender.expectNothing()
            for step in ["setUp", "initialize"] { try target.reply(to: try target.expectCall("module/\(step)")) }
            try target.reply(to: try target.find(["kind": "notice", "name": "news"], body: ["n": 1]))
            try sender.expectReply(to: id, body: ["observers": 1])
        }
    }

    @Test(.promise("7.10")) func aReportIsNeverMerged() throws {
        try TestBus.run(.sixModules()) { bus in
            let target = try bus.module("Ant", ["observes": [["name": "news", "keep": "latest"]]])
            let sender = try bus.module("Cat")
            target.isPaused = true
            let ids = try (0..<20).map { try sender.report("news", to: "Ant", .integer($0)) }
            try sender.settle()
            target.isPaused = false
            for number in 0..<20 as Range<Int64> {
                let notice = try target.expectNotice("news", .integer(number))
                #expect(notice["missed"] == nil)
                try target.reply(to: notice)
            }
            for id in ids { try sender.expectReply(to: id, body: ["observers": 1]) }
        }
    }

    @Test(.promise("7.10")) func aReportThatDoesNotFitIsOverloaded() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 200_000 }) { bus in
            let target = try bus.module("Ant", ["observes": ["news"]])
            let sender = try bus.module("Cat")
            target.isPaused = true
            let ids = try (0..<15).map { _ in try sender.report("news", to: "Ant", .filler(60_000)) }
            #expect(try sender.expectError(to: ids[14], "overloaded", ran: "no").message.contains("Ant"))
            // The target stays connected.
            target.isPaused = false
            try target.reply(to: try target.expectNotice("news"))
            try sender.expectReply(to: ids[0], body: ["observers": 1])
        }
    }

    /// All notices share one body, even if it isn't sent at once.
    @Test func aLargeReportReachesEachObservationWhole() throws {
        try TestBus.run(.sixModules()) { bus in
            let target = try bus.module("Ant", ["observes": ["large", "large"]])
            _ = try target.asked("bus/observe", ["name": "large"])
            let sender = try bus.module("Bee")
            target.isPaused = true
            let body = JSON.filler(1_000_000)
            let report = try sender.report("large", to: "Ant", body)
            try sender.settle()
            target.isPaused = false
            let notices = try (0..<3).map { _ in try target.expectNotice("large", body) }
            for notice in notices { try target.reply(to: notice) }
            try sender.expectReply(to: report, body: ["observers": 3])
        }
    }
}
