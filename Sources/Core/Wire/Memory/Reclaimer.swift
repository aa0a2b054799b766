/// Provides the memory of large frames, and takes back memory that is no longer used.
///
/// Blocks of a frame's size are kept for the next frames (`SpareBlocks`). Other blocks, and kept
/// ones that stay unused, are returned to the system in batches. Freeing a few MiB at once would
/// block a loop for up to a millisecond.
///
/// Used on the thread of one loop.
public final class Reclaimer {
    /// The size of a batch when no work is waiting, in bytes.
    public static let batch = 128 << 10
    /// The size of a batch when work is waiting, in bytes. It takes 10 to 20 µs; 128 KiB take up to
    /// 70 µs.
    public static let smallBatch = 32 << 10
    /// The most bytes that may wait to be returned; more are freed at once.
    public static let mostWaiting = 256 << 20
    /// How long a spare block may stay unused before it is returned, in milliseconds: see `settle`.
    public static let sparePeriod: UInt64 = 1_000

    private struct Block {
        let start: UnsafeMutableRawPointer
        /// The number of bytes at its start that are not yet given back.
        var left: Int
        /// The block's whole size if it is one of `SpareBlocks`; 0 if it was allocated.
        var mapped = 0
        /// The file of which the block is a part: its pages are given back, its addresses stay.
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

        /// Gives back the last `count` of the remaining bytes.
        mutating func discardLast(_ count: Int) {
            left -= count
            let part = UnsafeMutableRawBufferPointer(start: start + left, count: count)
            if let file { file.discard(part) } else { LargeBlocks.discard(part) }
        }
    }
    @exclusivity(unchecked)  // because it is asked for in each turn, on one thread
    private var blocks: [Block] = []
    /// The number of bytes that wait to be returned.
    @exclusivity(unchecked)  // the same
    public private(set) var waiting = 0
    @exclusivity(unchecked)  // the same
    private var spare = SpareBlocks()
    /// Other modules read `payloadBytes`: the compiler forgets `unchecked` across modules.
    @exclusivity(unchecked)  // the same
    @usableFromInline var payloadCount = 0
    /// The bytes of all payloads with memory of their own, each counted once.
    @inlinable public var payloadBytes: Int { payloadCount }

    public init() {}

    deinit { for block in blocks { block.free() } }

    /// Whether nothing waits to be returned.
    public var isEmpty: Bool { blocks.isEmpty }

    /// The number of bytes that are kept for the next frames.
    public var spareCount: Int { spare.count }

    /// Returns memory of `count` bytes, aligned to 16; `deallocate` takes it back.
    public func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        guard let size = SpareBlocks.size(for: count) else { return .allocate(byteCount: count, alignment: 16) }
        return spare.take(size)
    }

    /// Takes back memory that `allocate` returned for `count` bytes.
    public func deallocate(_ start: UnsafeMutableRawPointer, _ count: Int) {
        guard let size = SpareBlocks.size(for: count) else { return take(start, count) }
        if !spare.keep(start, size) { sendBack(Block(start: start, left: size, mapped: size)) }
    }

    /// Takes over a block that was allocated elsewhere; a small one is freed at once.
    public func take(_ start: UnsafeMutableRawPointer, _ count: Int) {
        guard count >= LargeBlocks.least else { return start.deallocate() }
        sendBack(Block(start: start, left: count))
    }

    /// Takes over a part of a mapped file that is no longer needed.
    func take(_ part: UnsafeRawBufferPointer, of file: MappedFile) {
        let pages = file.pages(of: part)
        if let start = pages.baseAddress, pages.count > 0 {
            sendBack(Block(start: start, left: pages.count, file: file))
        }
    }

    /// Returns the kept blocks that were unused since the last call. The caller calls this every
    /// `sparePeriod` while any are kept.
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

    /// Gives one batch back. The caller calls this until nothing waits.
    /// - Parameter most: the largest size of the batch, in bytes.
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
    /// Returns memory of `count` bytes, which `deallocate` takes back.
    func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        if let self { self.allocate(count) } else { .allocate(byteCount: count, alignment: 16) }
    }

    func deallocate(_ start: UnsafeMutableRawPointer, _ count: Int) {
        if let self { self.deallocate(start, count) } else { start.deallocate() }
    }

    /// Takes over a block; without a reclaimer it is freed at once.
    func take(_ start: UnsafeMutableRawPointer, _ count: Int) {
        if let self { self.take(start, count) } else { start.deallocate() }
    }
}
