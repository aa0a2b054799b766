import Testing

@testable import StrataCore

/// Large blocks are freed in batches.
@Suite struct ReclaimerTests {
    private func take(_ count: Int, _ reclaimer: Reclaimer) {
        reclaimer.take(.allocate(byteCount: count, alignment: 16), count)
    }

    /// The smallest size that isn't kept for a later frame.
    private let large = SpareBlocks.largest + 1

    @Test func aBlockGoesInPieces() {
        let reclaimer = Reclaimer()
        let count = 4 * Reclaimer.batch + 5
        take(count, reclaimer)
        for pieces in 1...4 {
            reclaimer.giveBack()
            #expect(reclaimer.waiting == count - pieces * Reclaimer.batch)
            #expect(!reclaimer.isEmpty)
        }
        reclaimer.giveBack()
        #expect(reclaimer.isEmpty && reclaimer.waiting == 0)
        reclaimer.giveBack()
    }

    @Test func aPieceMayBeSmaller() {
        let reclaimer = Reclaimer()
        take(large, reclaimer)
        reclaimer.giveBack(Reclaimer.smallBatch)
        #expect(reclaimer.waiting == large - Reclaimer.smallBatch)
    }

    @Test func aPieceMayBeSeveralBlocks() {
        let reclaimer = Reclaimer()
        for _ in 0..<3 { take(large, reclaimer) }
        reclaimer.giveBack(2 * large + 5)
        #expect(reclaimer.waiting == large - 5)
    }

    @Test func smallBlocksAreFreedAtOnce() {
        let reclaimer = Reclaimer()
        take(LargeBlocks.least - 1, reclaimer)
        #expect(reclaimer.isEmpty && reclaimer.spareCount == 0)
    }

    @Test func moreThanMayWaitIsFreedAtOnce() {
        let reclaimer = Reclaimer()
        for _ in 0..<300 { take(1 << 20, reclaimer) }
        #expect(reclaimer.waiting == Reclaimer.mostWaiting)
        take(Reclaimer.mostWaiting + 1, reclaimer)
        #expect(reclaimer.isEmpty)
    }

    /// Pages that were freed don't belong to the process any more, even before the block is
    /// freed.
    @Test func thePagesGoBack() throws {
        let reclaimer = Reclaimer()
        let count = 8 << 20
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        block.initializeMemory(as: UInt8.self, repeating: 1)
        let start = try #require(block.baseAddress)
        reclaimer.take(start, count)
        reclaimer.giveBack()
        // A freed page reads as zero.
        #expect(block[count - Reclaimer.batch / 2] == 0)
        #expect(block[count - Reclaimer.batch - 4_096] == 1)
    }
}
