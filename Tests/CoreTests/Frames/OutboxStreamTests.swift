import StrataTesting
import TestSupport
import Testing

@testable import StrataCore

/// Where the bytes of a stream end among the positions of its outbox.
@Suite(.timeLimit(.hang))
struct OutboxStreamTests {
    private static func queue(_ count: Int, _ outbox: inout Outbox) -> UInt64 {
        outbox.reserve(count).initializeMemory(as: UInt8.self, repeating: 1, count: count)
        return outbox.commit(inlineCount: count, isAnswer: false)
    }

    private static func write(_ most: Int, _ outbox: inout Outbox) -> Int {
        let there = withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 8) { parts in
            parts[..<outbox.gather(parts)].reduce(0) { $0 + $1.count }
        }
        if there > 0 { outbox.wrote(min(most, there)) }
        return min(most, there)
    }

    @Test func withoutRemovedFramesItIsExact() {
        var outbox = Outbox(pool: OutboxPool())
        _ = Self.queue(7, &outbox)
        outbox.beginStream()
        _ = Self.queue(10, &outbox)
        #expect(Self.write(9, &outbox) == 9)
        #expect(outbox.position(behind: 0) == 7 && outbox.position(behind: 4) == 11)
        #expect(outbox.begunEnd == 17)
        #expect(Self.write(.max, &outbox) == 8)
        #expect(outbox.position(behind: 10) == 17 && outbox.begunEnd == 17)
    }

    @Test func aRemovedFrameIsNoByteOfTheStream() {
        var outbox = Outbox(pool: OutboxPool())
        outbox.beginStream()
        let first = Self.queue(10, &outbox)
        #expect(Self.write(.max, &outbox) == 10)
        let removed = Self.queue(100, &outbox)
        let second = Self.queue(10, &outbox)
        let didRemove = outbox.remove(endingAt: removed)
        #expect(didRemove)
        #expect(outbox.begunEnd == first)
        #expect(Self.write(.max, &outbox) == 10)
        #expect(outbox.position(behind: 10) == first)
        #expect(outbox.position(behind: 20) == second)
    }

    /// Where frames were removed it may say that more is among the bytes, but never less.
    @Test(arguments: 0..<20 as Range<Int>) func noFrameAmongTheBytesIsBehindIt(seed: Int) {
        var generator = SeededGenerator(seed)
        var outbox = Outbox(pool: OutboxPool())
        _ = Self.queue(50, &outbox)
        if Bool.random(using: &generator) { _ = Self.write(.random(in: 1...50, using: &generator), &outbox) }
        outbox.beginStream()
        var frames: [(end: UInt64, count: Int)] = []
        var written = 0
        let before = outbox.pending
        for _ in 0..<4_000 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0...1:
                let count = Int.random(in: 1...300, using: &generator)
                frames.append((Self.queue(count, &outbox), count))
            case 2: written += Self.write(.random(in: 1...600, using: &generator), &outbox)
            default:
                guard let index = frames.indices.suffix(8).randomElement(using: &generator) else { continue }
                if outbox.remove(endingAt: frames[index].end) { frames.remove(at: index) }
            }
        }
        let sent = UInt64(Int.random(in: 0...max(0, written - before), using: &generator))
        let position = outbox.position(behind: sent)
        var end = 0
        for frame in frames {
            end += frame.count
            guard end <= sent else { break }
            #expect(frame.end <= position)
        }
    }
}
