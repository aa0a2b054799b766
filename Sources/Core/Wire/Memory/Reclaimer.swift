/// Gives large frames their memory, and takes memory back that nobody uses any more.
/// Blocks of a frame's size are kept for the next frames (`SpareBlocks`); the others,
/// and what stays unused, are on their way back to the system: to free some MiB at
/// once keeps a loop busy for up to a millisecond, so they go a batch at a time.
///
/// Used on one loop's thread.
public final class Reclaimer {
    /// What is given back at once where nobody waits, in bytes.
    public static let batch = 128 << 10
    /// The same where somebody does: ten to twenty microseconds' work, 128 KiB being up
    /// to seventy.
    public static let smallBatch = 32 << 10
    /// So many bytes may wait; what is more is given back at once.
    public static let mostWaiting = 256 << 20
    /// A block that is kept for the next frames and that nobody wants for so long is on
    /// its way back, in milliseconds: see `settle`.
    public static let sparePeriod: UInt64 = 1_000

    private struct Block {
        let start: UnsafeMutableRawPointer
        /// The bytes at its start that are still to be given back.
        var left: Int
        /// Its whole size where it is one of `SpareBlocks`; 0: it was allocated.
        var mapped = 0
        /// Where it is a part of one: its pages go, and its addresses stay.
        var file: MappedFile?

        func free() {
            if let file {
                file.discard(UnsafeMutableRawBufferPointer(start: start, count: left))
            } else if mapped > 0 {
                SpareBlocks.unmap(start, mapped)
            } else {
                start.deallocate()
            }
        }

        /// Gives the last of the bytes that are left back.
        mutating func discardLast(_ count: Int) {
            left -= count
            let part = UnsafeMutableRawBufferPointer(start: start + left, count: count)
            if let file { file.discard(part) } else { LargeBlocks.discard(part) }
        }
    }
    private var blocks: [Block] = []
    /// The bytes that wait.
    public private(set) var waiting = 0
    private var spare = SpareBlocks()
    /// The bytes of all payloads that have memory of their own, each counted once.
    public internal(set) var payloadBytes = 0

    public init() {}

    deinit { for block in blocks { block.free() } }

    /// Whether nothing waits to be given back.
    public var isEmpty: Bool { blocks.isEmpty }

    /// The bytes that are kept for the next frames.
    public var spareCount: Int { spare.count }

    /// Memory of so many bytes, aligned to 16; `deallocate` takes it back.
    public func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        guard let size = SpareBlocks.size(for: count) else { return .allocate(byteCount: count, alignment: 16) }
        return spare.take(size)
    }

    /// Takes back what `allocate` gave for so many bytes.
    public func deallocate(_ start: UnsafeMutableRawPointer, _ count: Int) {
        guard let size = SpareBlocks.size(for: count) else { return take(start, count) }
        if !spare.keep(start, size) { sendBack(Block(start: start, left: size, mapped: size)) }
    }

    /// Takes over a block that was allocated elsewhere; a small one is freed at once.
    public func take(_ start: UnsafeMutableRawPointer, _ count: Int) {
        guard count >= LargeBlocks.least else { return start.deallocate() }
        sendBack(Block(start: start, left: count))
    }

    /// Takes over a part of a mapped file that nobody needs any more.
    func take(_ part: UnsafeRawBufferPointer, of file: MappedFile) {
        let pages = file.pages(of: part)
        if let start = pages.baseAddress, pages.count > 0 {
            sendBack(Block(start: start, left: pages.count, file: file))
        }
    }

    /// Sends those kept blocks on their way that nobody wanted since the last call:
    /// the caller sees to it that this is called each `sparePeriod` while some are kept.
    public func settle() { spare.unused { sendBack(Block(start: $0, left: $1, mapped: $1)) } }

    private func sendBack(_ block: Block) {
        while waiting + block.left > Self.mostWaiting, let last = blocks.popLast() {
            waiting -= last.left
            last.free()
        }
        guard block.left <= Self.mostWaiting else { return block.free() }
        blocks.append(block)
        waiting += block.left
    }

    /// Gives one batch back: the caller sees to it that this is called until all is.
    /// - Parameter most: how large the batch is at most, in bytes.
    public func giveBack(_ most: Int = Reclaimer.batch) {
        var batch = most
        while batch > 0, var block = blocks.popLast() {
            let count = min(batch, block.left)
            batch -= count
            waiting -= count
            if block.left == count {
                block.free()
            } else {
                block.discardLast(count)
                blocks.append(block)
            }
        }
    }
}

extension Reclaimer? {
    /// Memory of so many bytes, which `deallocate` takes back.
    func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        if let self { self.allocate(count) } else { .allocate(byteCount: count, alignment: 16) }
    }

    func deallocate(_ start: UnsafeMutableRawPointer, _ count: Int) {
        if let self { self.deallocate(start, count) } else { start.deallocate() }
    }

    /// Takes over a block; where there is no reclaimer it is freed at once.
    func take(_ start: UnsafeMutableRawPointer, _ count: Int) {
        if let self { self.take(start, count) } else { start.deallocate() }
    }
}
