import Testing

@testable import StrataCore

/// Blocks of a frame's size are kept for later frames, as long as such frames come.
@Suite struct SpareBlocksTests {
    /// Each kept size, and sizes at both ends of each step.
    static let counts = stride(from: LargeBlocks.least, through: SpareBlocks.largest, by: SpareBlocks.step).flatMap {
        [$0, $0 + 1, $0 + SpareBlocks.step - 1]
    }.filter { $0 <= SpareBlocks.largest }

    @Test(arguments: counts) func aFreedBlockIsTheNextOneOfItsSize(_ count: Int) {
        let reclaimer = Reclaimer()
        let block = reclaimer.allocate(count)
        // All of it may be written, whatever the count was rounded to.
        block.initializeMemory(as: UInt8.self, repeating: 7, count: count)
        reclaimer.deallocate(block, count)
        #expect(reclaimer.isEmpty)
        let next = reclaimer.allocate(count)
        #expect(next == block)
        #expect(reclaimer.spareCount == 0)
        reclaimer.deallocate(next, count)
    }

    @Test(arguments: [LargeBlocks.least - 1, SpareBlocks.largest + 1]) func othersAreNotKept(_ count: Int) {
        let reclaimer = Reclaimer()
        reclaimer.deallocate(reclaimer.allocate(count), count)
        #expect(reclaimer.spareCount == 0)
    }

    @Test func oneOfAnotherSizeIsNotGiven() {
        let reclaimer = Reclaimer()
        let small = reclaimer.allocate(LargeBlocks.least)
        reclaimer.deallocate(small, LargeBlocks.least)
        let larger = reclaimer.allocate(LargeBlocks.least + 1)
        #expect(larger != small)
        #expect(reclaimer.spareCount == LargeBlocks.least)
        reclaimer.deallocate(larger, LargeBlocks.least + 1)
    }

    @Test func whatIsMoreThanMayBeKeptGoesBack() {
        let reclaimer = Reclaimer()
        let blocks = (0...SpareBlocks.most / LargeBlocks.least).map { _ in reclaimer.allocate(LargeBlocks.least) }
        for block in blocks { reclaimer.deallocate(block, LargeBlocks.least) }
        #expect(reclaimer.spareCount == SpareBlocks.most)
        #expect(reclaimer.waiting == LargeBlocks.least)
    }

    /// Blocks that stayed unused are freed, and blocks that were used stay.
    @Test func whatNobodyWantsGoesBack() {
        let reclaimer = Reclaimer()
        let size = LargeBlocks.least
        let blocks = (0..<4).map { _ in reclaimer.allocate(size) }
        for block in blocks { reclaimer.deallocate(block, size) }
        reclaimer.settle()
        // There were none before, so all were in use.
        #expect(reclaimer.spareCount == 4 * size && reclaimer.waiting == 0)
        let wanted = reclaimer.allocate(size)
        reclaimer.deallocate(wanted, size)
        reclaimer.settle()
        #expect(reclaimer.spareCount == size && reclaimer.waiting == 3 * size)
        reclaimer.settle()
        #expect(reclaimer.spareCount == 0 && reclaimer.waiting == 4 * size)
    }
}
