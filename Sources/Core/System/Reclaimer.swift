/// Large blocks of memory that nobody uses any more, on their way back to the
/// system. To free some MiB at once keeps a loop busy for up to a millisecond, so
/// they go a piece at a time.
///
/// Used on one loop's thread.
public final class Reclaimer {
    /// What is given back at once where nobody waits, in bytes.
    public static let piece = 128 << 10
    /// The same where somebody does: ten to twenty microseconds' work, 128 KiB being up
    /// to seventy.
    public static let smallPiece = 32 << 10
    /// So many bytes may wait; what is more is given back at once.
    public static let mostWaiting = 256 << 20

    private struct Block {
        let start: UnsafeMutableRawPointer
        /// The bytes at its start that are still to be given back.
        var left: Int
    }
    private var blocks: [Block] = []
    /// The bytes that wait.
    public private(set) var waiting = 0

    public init() {}

    deinit { for block in blocks { block.start.deallocate() } }

    public var isEmpty: Bool { blocks.isEmpty }

    /// Takes over a block that was allocated; a small one is freed at once.
    public func take(_ start: UnsafeMutableRawPointer, _ count: Int) {
        guard count >= LargeBlocks.least else { return start.deallocate() }
        while waiting + count > Self.mostWaiting, let block = blocks.popLast() {
            waiting -= block.left
            block.start.deallocate()
        }
        guard count <= Self.mostWaiting else { return start.deallocate() }
        blocks.append(Block(start: start, left: count))
        waiting += count
    }

    /// Gives one piece back: the caller sees to it that this is called until all is.
    /// - Parameter most: how large the piece is at most, in bytes.
    public func giveBack(_ most: Int = Reclaimer.piece) {
        var piece = most
        while piece > 0, var block = blocks.popLast() {
            let count = min(piece, block.left)
            block.left -= count
            piece -= count
            waiting -= count
            if block.left == 0 {
                block.start.deallocate()
            } else {
                LargeBlocks.discard(UnsafeMutableRawBufferPointer(start: block.start + block.left, count: count))
                blocks.append(block)
            }
        }
    }
}

extension Reclaimer? {
    /// Takes over a block; where there is no reclaimer it is freed at once.
    func take(_ start: UnsafeMutableRawPointer, _ count: Int) {
        if let self { self.take(start, count) } else { start.deallocate() }
    }
}
