internal import CUV
internal import Glibc

/// The memory of large frames: blocks that are mapped one by one, so that each can be
/// given back whatever was allocated after it, and of which those that are free are
/// the next frames'. The pages of a fresh one are made while it is written, and taken
/// apart afterwards, which costs more than the frame's bytes.
///
/// What stays unused is given back: of each size so many as nobody wanted since the
/// last `unused`, an idea of tcmalloc's "low water mark".
struct SpareBlocks: ~Copyable {
    /// Sizes are multiples of this, in bytes.
    static let step = 16 << 10
    /// The largest block: a frame of 256 KiB with its header.
    static let largest = 272 << 10
    /// So many bytes are kept at most.
    static let most = 64 << 20

    private struct Size {
        var blocks: [UnsafeMutableRawPointer] = []
        /// The fewest that there were since the last `unused`.
        var fewest = 0
    }
    private var sizes = [Size](repeating: Size(), count: (largest - LargeBlocks.least) / step + 1)
    /// The bytes of those that are kept.
    private(set) var count = 0

    deinit {
        for place in sizes.indices {
            for block in sizes[place].blocks { Self.unmap(block, LargeBlocks.least + place * Self.step) }
        }
    }

    /// What a block for so many bytes has; nil where there are no such blocks.
    static func size(for count: Int) -> Int? {
        guard count >= LargeBlocks.least, count <= largest else { return nil }
        return (count + step - 1) / step * step
    }

    /// A block of a size that `size` gave: a kept one, or a fresh one.
    mutating func take(_ size: Int) -> UnsafeMutableRawPointer {
        let place = Self.place(size)
        guard let block = sizes[place].blocks.popLast() else { return Self.map(size) }
        sizes[place].fewest = min(sizes[place].fewest, sizes[place].blocks.count)
        count -= size
        return block
    }

    /// Keeps a block that `take` gave.
    /// - Returns: false where there are too many: the caller unmaps it.
    mutating func keep(_ block: UnsafeMutableRawPointer, _ size: Int) -> Bool {
        guard count + size <= Self.most else { return false }
        sizes[Self.place(size)].blocks.append(block)
        count += size
        return true
    }

    /// Hands out those that nobody wanted since the last time: the caller unmaps them.
    mutating func unused(_ each: (_ block: UnsafeMutableRawPointer, _ size: Int) -> Void) {
        for place in sizes.indices {
            let size = LargeBlocks.least + place * Self.step
            for _ in 0..<sizes[place].fewest {
                guard let block = sizes[place].blocks.popLast() else { break }
                count -= size
                each(block, size)
            }
            sizes[place].fewest = sizes[place].blocks.count
        }
    }

    static func unmap(_ block: UnsafeMutableRawPointer, _ size: Int) { munmap(block, size) }

    private static func map(_ size: Int) -> UnsafeMutableRawPointer {
        guard let block = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            block != MAP_FAILED
        else {
            // because without it nothing can be read, and Swift ends the process as well
            // where it gets no memory
            fatalError("there is no memory for a frame of \(size) bytes: errno \(errno)")
        }
        return block
    }

    private static func place(_ size: Int) -> Int { (size - LargeBlocks.least) / step }
}

/// How this process gets large blocks of memory.
public enum LargeBlocks {
    /// Blocks of this size and more have pages of their own.
    static let least = 64 << 10
    /// Free memory behind all smaller blocks that is kept for the next, in bytes.
    private static let kept = 4 << 20

    /// Lets each large block have pages of its own: one that grows is moved by the
    /// system without a copy, and one that is freed is the system's again at once,
    /// whatever was allocated after it. For the whole process.
    public static func havePagesOfTheirOwn() { strata_map_large_blocks(Int32(least), Int32(kept)) }

    /// Gives the pages of a part of a block back, whose bytes nobody needs any more:
    /// to free many at once keeps the process busy for a millisecond.
    static func discard(_ part: UnsafeMutableRawBufferPointer) {
        guard let start = part.baseAddress else { return }
        strata_discard_pages(start, start + part.count)
    }
}
