import StrataTesting
import Testing
import TestSupport

@testable import StrataBus

@Suite(.timeLimit(.hang))
struct TimerWheelTests {
    /// Compares the wheel with a plain list, over a clock that jumps.
    @Test(arguments: 0..<40)
    func itDoesWhatASortedListWould(seed: Int) throws {
        var generator = SeededGenerator(seed)
        var now = UInt64.random(in: 0...1 << 40, using: &generator)
        var table = CallTable(now: 0)
        var wheel = TimerWheel(now: now)
        var model: [(call: CallPointer, expiry: UInt64)] = []
        let spans: [UInt64] = [3, 300, 20_000, 2_000_000, 86_400_000]
        for _ in 0..<1_500 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<6:
                let call = try table.opened()
                let span = spans.randomElement(using: &generator) ?? 1
                call.pointee.deadline.expiry = now + UInt64.random(in: 0...span, using: &generator)
                let tick = wheel.insert(call)
                // Nothing is due in the round that set it.
                #expect(call.pointee.deadline.expiry > now)
                #expect(tick <= call.pointee.deadline.expiry)
                model.append((call, call.pointee.deadline.expiry))
            case 6..<8 where !model.isEmpty:
                let index = model.indices.randomElement(using: &generator) ?? 0
                let call = model.remove(at: index).call
                wheel.remove(call)
                table.close(call)
            default:
                let span = spans.randomElement(using: &generator) ?? 1
                if let next = wheel.nextTick() { #expect(next > now) }
                now += UInt64.random(in: 0...span, using: &generator)
                var last: UInt64 = 0
                while let due = wheel.next(now: now) {
                    #expect(due.pointee.deadline.expiry <= now)
                    #expect(due.pointee.deadline.expiry >= last, "they come in the order of time")
                    last = due.pointee.deadline.expiry
                    let index = try #require(model.firstIndex { $0.call == due })
                    #expect(model[index].expiry == due.pointee.deadline.expiry)
                    model.remove(at: index)
                    table.close(due)
                }
                #expect(model.allSatisfy { $0.expiry > now })
            }
            #expect(wheel.count == model.count)
            if let earliest = model.map(\.expiry).min() {
                let tick = wheel.nextTick() ?? .max
                #expect(tick <= earliest, "the wheel would sleep over a deadline")
            } else {
                #expect(wheel.nextTick() == nil)
            }
        }
        for (call, _) in model {
            wheel.remove(call)
            table.close(call)
        }
    }

    @Test func aDeadlineIsMetToTheMillisecondHoweverFar() throws {
        for delta in [1, 255, 256, 257, 16_383, 16_384, 1_048_575, 1_048_576, 86_400_000] as [UInt64] {
            for start in [0, 1, 255, 256, 12_345_678] as [UInt64] {
                var table = CallTable(now: 0)
                var wheel = TimerWheel(now: start)
                let call = try table.opened()
                call.pointee.deadline.expiry = start + delta
                _ = wheel.insert(call)
                // As the loop does: from tick to tick.
                while let tick = wheel.nextTick(), tick < start + delta { #expect(wheel.next(now: tick) == nil) }
                #expect(wheel.next(now: start + delta - 1) == nil)
                #expect(wheel.next(now: start + delta) == call)
                table.close(call)
            }
        }
    }

    @Test func removingTwiceOrWithoutSettingDoesNothing() throws {
        var table = CallTable(now: 0)
        var wheel = TimerWheel(now: 100)
        let call = try table.opened()
        wheel.remove(call)
        #expect(wheel.count == 0)
        call.pointee.deadline.expiry = 5
        _ = wheel.insert(call)
        #expect(wheel.next(now: 100) == nil)
        #expect(wheel.next(now: 101) == call, "one set for the past comes in the next round")
        wheel.remove(call)
        #expect(wheel.count == 0)
        table.close(call)
    }
}
