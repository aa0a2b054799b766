import Glibc
import StrataTesting
import TestSupport
import Testing

@testable import StrataCore

/// An outbox, with a plain list of what it should hold.
private struct Modelled: ~Copyable {
    struct Entry {
        var bytes: [UInt8]
        var end: UInt64
        var isAnswer: Bool
        var isBeyond: Bool
        var isRemoved = false
        var sent = 0
    }

    var outbox = Outbox(pool: OutboxPool())
    var entries: [Entry] = []
    /// The bytes that the kernel took.
    var taken: [UInt8] = []
    /// The bytes that it should have taken.
    var expected: [UInt8] = []

    /// Random bytes, from which frames are cut: to make each frame's own takes most of a test's time.
    static let noise: [UInt8] = {
        var generator = SeededGenerator(0)
        return (0..<64 << 10).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }()

    /// Compares as memory, since a debug build compares arrays byte by byte.
    static func same(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                one.count == other.count
                    && (one.isEmpty || memcmp(one.baseAddress!, other.baseAddress!, one.count) == 0)
            }
        }
    }

    mutating func queue(
        _ bytes: [UInt8], payloadFrom: Int? = nil, isAnswer: Bool = false, isBeyond: Bool = false
    ) {
        let inlined = payloadFrom ?? bytes.count
        let memory = outbox.reserve(inlined)
        bytes[..<inlined].withUnsafeBytes {
            memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: inlined)
        }
        let payload = payloadFrom.map { from in bytes[from...].withUnsafeBytes { Payload(copying: $0) } }
        let end =
            if let payload {
                outbox.commit(inlineCount: inlined, payload: payload, isAnswer: isAnswer)
            } else {
                outbox.commit(inlineCount: inlined, isAnswer: isAnswer)
            }
        if isBeyond { outbox.countBeyond() }
        entries.append(Entry(bytes: bytes, end: end, isAnswer: isAnswer, isBeyond: isBeyond))
    }

    /// Removes a frame. Returns whether it did, and whether it should have been possible.
    mutating func remove(_ index: Int) -> (did: Bool, should: Bool) {
        let should = !entries[index].isRemoved && entries[index].sent == 0
        let did = outbox.remove(endingAt: entries[index].end)
        if did { entries[index].isRemoved = true }
        return (did, should)
    }

    mutating func removeNotBegun() {
        outbox.removeNotBegun()
        for index in entries.indices where entries[index].sent == 0 { entries[index].isRemoved = true }
    }

    /// Lets the kernel take this many bytes of what is gathered.
    mutating func write(_ count: Int, parts capacity: Int = 64) {
        var moved = 0
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: capacity) { parts in
            let used = outbox.gather(parts)
            for part in parts[..<used] where moved < count {
                let step = min(part.count, count - moved)
                taken += part[..<step]
                moved += step
            }
        }
        if moved > 0 { outbox.wrote(moved) }
        for index in entries.indices where !entries[index].isRemoved && moved > 0 {
            let sent = entries[index].sent
            let step = min(moved, entries[index].bytes.count - sent)
            if step > 0 { expected += entries[index].bytes[sent..<sent + step] }
            entries[index].sent += step
            moved -= step
        }
    }

    var pending: Int { entries.filter { !$0.isRemoved }.reduce(0) { $0 + $1.bytes.count - $1.sent } }

    /// Returns what waits in an outbox that is made from this one's contents.
    private static func copy(_ outbox: borrowing Outbox) -> [UInt8] {
        var payloads = PayloadList()
        let contents = outbox.contents(&payloads)
        #expect(contents.isSound(payloads.payloads))
        var copy = Outbox(pool: outbox.pool, contents, payloads.payloads)
        #expect(copy.pending == outbox.pending && copy.pendingAnswers == outbox.pendingAnswers)
        #expect(copy.pendingBeyond == outbox.pendingBeyond)
        var bytes: [UInt8] = []
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 2) { parts in
            while case let used = copy.gather(parts), used > 0 {
                for part in parts[..<used] { bytes += part }
                copy.wrote(parts[..<used].reduce(0) { $0 + $1.count })
            }
        }
        return bytes
    }

    mutating func check() {
        #expect(outbox.pending == pending)
        outbox.noteWaiting()
        #expect(outbox.pool.waiting == (outbox.storage.map { $0.pointee.tail - $0.pointee.head } ?? 0))
        #expect(outbox.isEmpty == (pending == 0))
        #expect(Self.same(taken, expected))
        var left: [UInt8] = []
        for entry in entries where !entry.isRemoved && entry.sent < entry.bytes.count {
            left += entry.bytes[entry.sent...]
        }
        #expect(Self.same(Self.copy(outbox), left))
        // An answer, and a frame beyond the limit, count whole until their last byte is written.
        let waiting = entries.filter { !$0.isRemoved && $0.sent < $0.bytes.count }
        #expect(outbox.pendingAnswers == waiting.reduce(0) { $0 + ($1.isAnswer ? $1.bytes.count : 0) })
        #expect(outbox.pendingBeyond == waiting.reduce(0) { $0 + ($1.isBeyond ? $1.bytes.count : 0) })
        for entry in entries where !entry.isRemoved {
            #expect((outbox.written >= entry.end) == (entry.sent == entry.bytes.count))
        }
    }
}

@Suite(.timeLimit(.hang))
struct OutboxTests {
    @Test func framesGoOutInOrderAsOnePiece() {
        var modelled = Modelled()
        for number in 0..<10 as Range<UInt8> { modelled.queue([UInt8](repeating: number, count: 20)) }
        modelled.check()
        modelled.write(.max)
        #expect(modelled.taken.count == 200)
        modelled.check()
        #expect(modelled.outbox.written == modelled.outbox.end)
    }

    @Test func aFrameThatHasBegunIsNotRemoved() {
        var modelled = Modelled()
        modelled.queue([1, 2, 3])
        modelled.queue([4, 5, 6])
        modelled.write(1)
        #expect(modelled.remove(0) == (false, false))
        #expect(modelled.remove(1) == (true, true))
        #expect(modelled.remove(1) == (false, false))
        modelled.check()
        modelled.write(.max)
        modelled.check()
        #expect(modelled.taken == [1, 2, 3])
    }

    @Test func positionsStayWhatTheyWereWhenOthersAreRemoved() {
        var modelled = Modelled()
        for number in 0..<6 as Range<UInt8> { modelled.queue([number, number]) }
        for index in [0, 2, 3] { #expect(modelled.remove(index) == (true, true)) }
        modelled.write(3)
        modelled.check()
        #expect(modelled.remove(5) == (true, true))
        modelled.write(.max)
        modelled.check()
        #expect(modelled.taken == [1, 1, 4, 4])
        modelled.queue([9])
        modelled.write(.max)
        modelled.check()
    }

    @Test func allThatWasRemovedLeavesNothingToWrite() {
        var modelled = Modelled()
        modelled.queue([1])
        modelled.queue([2, 3], payloadFrom: 1)
        modelled.removeNotBegun()
        modelled.check()
        modelled.write(.max)
        #expect(modelled.taken == [])
        #expect(modelled.outbox.written == modelled.outbox.end)
        modelled.queue([4])
        modelled.write(.max)
        modelled.check()
    }

    @Test func aPayloadIsWrittenBehindItsHeaderInPieces() {
        var modelled = Modelled()
        modelled.queue([1])
        modelled.queue(Array(2...60), payloadFrom: 4)
        modelled.queue([61])
        while modelled.pending > 0 {
            modelled.write(7, parts: 3)
            modelled.check()
        }
    }

    /// Commands and the kernel in any order, compared with the plain list.
    @Test(arguments: 0..<60)
    func itDoesWhatAListWould(seed: Int) {
        var generator = SeededGenerator(seed)
        var modelled = Modelled()
        let longest = [8, 300, 9_000][seed % 3]
        for _ in 0..<400 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4:
                let count = Int.random(in: 1...longest, using: &generator)
                let start = Int.random(in: 0...Modelled.noise.count - count, using: &generator)
                let bytes = Array(Modelled.noise[start..<start + count])
                let inlined = Int.random(in: 1...count, using: &generator)
                let hasPayload = inlined < count && Bool.random(using: &generator)
                modelled.queue(
                    bytes, payloadFrom: hasPayload ? inlined : nil, isAnswer: Bool.random(using: &generator),
                    isBeyond: Bool.random(using: &generator))
            case 4..<6 where !modelled.entries.isEmpty:
                let last = modelled.entries.indices.suffix(30)
                let (did, should) = modelled.remove(last.randomElement(using: &generator) ?? 0)
                #expect(did == should)
            case 6 where Int.random(in: 0..<10, using: &generator) == 0:
                modelled.removeNotBegun()
            default:
                let most = Int.random(in: 1...(longest * 3), using: &generator)
                modelled.write(most, parts: Int.random(in: 2...20, using: &generator))
            }
            if Int.random(in: 0..<20, using: &generator) == 0 { modelled.check() }
        }
        while modelled.pending > 0 { modelled.write(.max) }
        modelled.write(.max)
        modelled.check()
        #expect(modelled.outbox.written == modelled.outbox.end)
    }

    /// Removals from everywhere in a long queue, so that compaction is under way most of the
    /// time. Meanwhile frames come, go and are dropped.
    @Test(.promise("13.38"), arguments: 0..<20)
    func itDoesSoWhileRemovedFramesAreGivenBack(seed: Int) {
        var generator = SeededGenerator(seed)
        var modelled = Modelled()
        for _ in 0..<60 {
            for _ in 0..<Int.random(in: 0...60, using: &generator) {
                let count = Int.random(in: 1...1_500, using: &generator)
                let bytes = [UInt8](repeating: UInt8.random(in: 0...255, using: &generator), count: count)
                let hasPayload = Int.random(in: 0..<4, using: &generator) == 0
                modelled.queue(
                    bytes, payloadFrom: hasPayload ? count / 2 : nil, isAnswer: Bool.random(using: &generator),
                    isBeyond: Bool.random(using: &generator))
            }
            let waiting = modelled.entries.indices.filter { !modelled.entries[$0].isRemoved }
            for index in waiting.shuffled(using: &generator).prefix(Int.random(in: 0...70, using: &generator)) {
                let (did, should) = modelled.remove(index)
                #expect(did == should)
            }
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: modelled.removeNotBegun()
            case 1: modelled.write(.max)
            default: modelled.write(Int.random(in: 0...9_000, using: &generator))
            }
            modelled.check()
        }
        while modelled.pending > 0 { modelled.write(.max) }
        modelled.check()
    }

    /// If the front of the memory is free, everything is moved there, with the gap.
    @Test func whatIsOnItsWayTogetherMayBeMoved() {
        var generator = SeededGenerator(1)
        var modelled = Modelled()
        for number in 0..<2_000 { modelled.queue([UInt8](repeating: UInt8(number % 251), count: 60)) }
        modelled.write(1_100 * 60)
        for index in (1_101..<2_000).shuffled(using: &generator) where modelled.outbox.storage?.pointee.gap == nil {
            #expect(modelled.remove(index) == (true, true))
        }
        #expect((modelled.outbox.storage?.pointee.head ?? 0) > 0)
        #expect((modelled.outbox.storage?.pointee.entryHead ?? 0) > 0)
        for number in 0..<300 { modelled.queue([UInt8](repeating: UInt8(number % 251), count: 60)) }
        #expect(modelled.outbox.storage?.pointee.head == 0 && modelled.outbox.storage?.pointee.entryHead == 0)
        #expect(modelled.outbox.storage?.pointee.gap != nil)
        modelled.check()
        #expect(modelled.remove(2_200) == (true, true))
        modelled.check()
        while modelled.pending > 0 { modelled.write(.max) }
        modelled.check()
    }

    /// If only the gap is left of the removed frames, it isn't written.
    @Test func theGapIsNotWritten() {
        var modelled = Modelled()
        for number in 0..<2_000 { modelled.queue([UInt8](repeating: UInt8(number % 251), count: 60)) }
        for index in 1..<1_900 where modelled.outbox.storage?.pointee.gap == nil || modelled.outbox.removedBytes > 0 {
            #expect(modelled.remove(index) == (true, true))
        }
        #expect(modelled.outbox.removedBytes == 0 && modelled.pending > 0)
        #expect((modelled.outbox.storage?.pointee.gap?.count ?? 0) > 0)
        modelled.check()
        while modelled.pending > 0 { modelled.write(.max) }
        modelled.check()
    }

    /// A queue that never empties, and of which all but a few frames are removed.
    @Test(.promise("13.38")) func removedFramesDontFillTheMemory() {
        var outbox = Outbox(pool: OutboxPool())
        func queue() -> UInt64 {
            outbox.reserve(100).initializeMemory(as: UInt8.self, repeating: 1, count: 100)
            return outbox.commit(inlineCount: 100, isAnswer: false)
        }
        _ = queue()
        for _ in 0..<20_000 { _ = outbox.remove(endingAt: queue()) }
        #expect(outbox.pending == 100)
        #expect(outbox.removedBytes < 200 << 10 && outbox.memory < 1 << 20)
        let many = (0..<20_000).map { _ in queue() }
        #expect(outbox.memory > 2 << 20)
        for end in many.dropLast(10) {
            let isRemoved = outbox.remove(endingAt: end)
            #expect(isRemoved)
        }
        #expect(outbox.pending == 1_100)
        #expect(outbox.removedBytes < 200 << 10 && outbox.memory < 2 << 20)
    }

    /// Queued bytes count at the next look, and written or dropped bytes at once.
    @Test func thePoolKnowsWhatWaitsInAll() {
        let pool = OutboxPool()
        func queue(_ count: Int, _ outbox: inout Outbox) {
            outbox.reserve(count).initializeMemory(as: UInt8.self, repeating: 1, count: count)
            outbox.commit(inlineCount: count, isAnswer: false)
        }
        var one = Outbox(pool: pool)
        do {
            var other = Outbox(pool: pool)
            queue(100, &one)
            queue(70, &other)
            one.noteWaiting()
            other.noteWaiting()
            #expect(pool.waiting == 170)
            withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 4) { _ = one.gather($0) }
            one.wrote(60)
            #expect(pool.waiting == 110)
            one.wrote(40)
            #expect(pool.waiting == 70)
            queue(30, &other)
            other.removeNotBegun()
            #expect(pool.waiting == 0)
            queue(30, &other)
            other.noteWaiting()
            #expect(pool.waiting == 30)
        }
        #expect(pool.waiting == 0 && one.isEmpty)
    }

    @Test func aBorrowedPayloadIsCopiedWhereSomebodyStillNeedsIt() {
        var outbox = Outbox(pool: OutboxPool())
        var source = [UInt8](repeating: 5, count: 100)
        let payload = source.withUnsafeBytes { bytes in
            let payload = Payload(borrowing: bytes)
            _ = outbox.reserve(8)
            outbox.commit(inlineCount: 8, payload: payload, isAnswer: false)
            payload.own()
            return payload
        }
        for index in source.indices { source[index] = 0 }
        #expect(payload.bytes.count == 100 && payload.bytes.allSatisfy { $0 == 5 })
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 4) { _ = outbox.gather($0) }
        outbox.wrote(108)
        #expect(outbox.pending == 0)
    }
}
