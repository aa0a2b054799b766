import StrataCore
import StrataTesting
import Testing

/// The protocol's section 10: what a monitor misses that takes frames later than they pass.
@Suite(.timeLimit(.hang))
struct SlowMonitorTests {
    @Test(.promise("10.22")) func notesWithoutCreditAreCountedInTheNextOne() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let id = try tool.monitor(["name": "n"], credit: 1)
            try tool.settle()
            for _ in 0..<4 { try ant.broadcast("n") }
            try ant.settle()
            try tool.expect(["kind": "reply", "more": true], body: ["kind": "broadcast"])
            try tool.expectNothing()
            try tool.credit(id, 2)
            try tool.expectNothing()
            try ant.broadcast("n")
            try tool.expect(["kind": "reply", "more": true, "missed": 3], body: ["missed": 3])
            try ant.broadcast("n")
            let next = try tool.expect(["kind": "reply", "more": true])
            #expect(next["missed"] == nil && next.json["missed"] == nil)
        }
    }

    @Test(.promise("10.22")) func aMonitorThatDoesNotReadMissesNotesAndContinues() throws {
        try TestBus.run(.sixModules { $0.limits.queue = 100_000 }) { bus in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let id = try tool.monitor(["name": "n", "bodies": true], credit: 10_000)
            try tool.settle()
            tool.isPaused = true
            for _ in 0..<2_000 { _ = try ant.recipients(ofBroadcast: "n", .filler(400)) }
            tool.isPaused = false
            var (got, missed) = (0, Int64(0))
            func count(_ frames: [JSON]) {
                got += frames.count
                missed += frames.reduce(0) { $0 + ($1["missed"]?.integer ?? 0) }
            }
            count(try tool.notes(of: id))
            _ = try ant.recipients(ofBroadcast: "n")
            count(try tool.notes(of: id))
            #expect(missed > 0 && Int64(got) + missed == 2_001, "\(got), missed \(missed)")
        }
    }

    /// More frames than there is room for, at once. All that are left out are counted, up to the
    /// last one.
    @Test(.promise("10.22")) func notesThatDoNotFitIntoTheRingAreCounted() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let id = try tool.monitor(["name": "n"], credit: 1_000_000)
            let other = try tool.monitor(["module": "Bee"], credit: 1_000_000)
            try tool.settle()
            let frame = FrameBytes.frame(["kind": "broadcast", "name": "n"])
            let flood = Array(repeatElement(frame, count: 30_000).joined())
            try ant.send(bytes: flood)
            try ant.broadcast("n")
            try ant.settle()
            let frames = try tool.drainWithMonitors().filter { $0.isPartial && $0.id != other }
            let missed = frames.reduce(0) { $0 + ($1.json["missed"]?.integer ?? 0) }
            #expect(frames.allSatisfy { $0.id == id && $0["missed"] == $0.json["missed"] })
            // Frames that were missed at the end are reported with the next frame.
            try ant.broadcast("n")
            let last = try #require(try tool.notes(of: id).first)
            #expect(Int64(frames.count) + missed + (last["missed"]?.integer ?? 0) == 30_001)
            let times = frames.compactMap { $0.json["at"]?.integer }
            #expect(times == times.sorted() && times.count == frames.count)
        }
    }

    /// The notes take several turns. The cancel comes while most of them wait.
    @Test(.promise("10.22")) func aCancelledMonitorIsSentWhatWasNotedBefore() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let id = try tool.monitor(["name": "n"], credit: 1_000_000)
            try tool.settle()
            let frame = FrameBytes.frame(["kind": "broadcast", "name": "n"])
            try ant.send(bytes: Array(repeatElement(frame, count: 3_000).joined()))
            try ant.settle()
            try tool.cancel(id)
            for _ in 0..<3_000 { try tool.expect(["kind": "reply", "id": .integer(Int64(id)), "more": true]) }
            try tool.expect(["kind": "error", "id": .integer(Int64(id)), "code": "cancelled"])
            try tool.expectNothing()
        }
    }

    @Test(.promise("10.22")) func anOlderMonitorsGapsDoNotAffectOtherMonitors() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            let poor = try tool.monitor(["name": "n"], credit: 1)
            let rich = try tool.monitor(["name": "n"])
            try tool.settle()
            for number in 0..<5 as Range<Int64> { try ant.broadcast("n", .integer(number)) }
            try ant.settle()
            try tool.credit(poor, 1)
            try tool.settle()
            try ant.broadcast("n")
            let frames = try tool.drainWithMonitors().filter(\.isPartial)
            #expect(frames.filter { $0.id == rich }.map { $0["missed"]?.integer } == Array(repeating: nil, count: 6))
            #expect(frames.filter { $0.id == poor }.map { $0["missed"]?.integer } == [nil, 4])
        }
    }

    /// No frame waits for a monitor that has ended, whichever monitor takes its place.
    @Test(.promise("10.22")) func aNewMonitorGetsNoNotesOfAnEarlierOne() throws {
        try TestBus.run(.sixModules()) { bus in
            let ant = try bus.module("Ant")
            let tool = try bus.operator()
            for _ in 0..<50 {
                let first = try tool.monitor(["name": "n"])
                try tool.settle()
                try ant.broadcast("n")
                try ant.broadcast("n")
                try ant.settle()
                try tool.cancel(first)
                try tool.expectError(to: first, "cancelled")
                let second = try tool.monitor(["name": "m"])
                try tool.settle()
                try ant.broadcast("m")
                try ant.settle()
                let names = try tool.notes(of: second).map { $0["name"]?.string }
                #expect(names == ["m"])
                try tool.cancel(second)
                try tool.expectError(to: second, "cancelled")
            }
        }
    }
}
