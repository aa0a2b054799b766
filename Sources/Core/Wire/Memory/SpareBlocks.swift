internal import CUV
internal import Glibc

/// The memory of large frames. Each block is a mapping of its own, so it can be returned whatever
/// was allocated after it. Free blocks are kept for the next frames: making the pages of a fresh
/// block and unmapping them costs more than copying the frame's bytes.
///
/// Unused blocks are returned. For each size, that is the number of blocks that stayed free since
/// the last `unused`, after tcmalloc's "low water mark".
struct SpareBlocks: ~Copyable {
    /// Sizes are multiples of this, in bytes.
    static let step = 16 << 10
    /// The largest block: a frame of 256 KiB with its header.
    static let largest = 272 << 10
    /// The most bytes that are kept.
    static let most = 64 << 20

    private struct Size {
        var blocks: [UnsafeMutableRawPointer] = []
        /// The fewest free blocks since the last `unused`.
        var fewest = 0
    }
    private var sizes = [Size](repeating: Size(), count: (largest - LargeBlocks.least) / step + 1)
    /// The number of bytes in kept blocks.
    private(set) var count = 0

    deinit {
        for place in sizes.indices {
            for block in sizes[place].blocks { Self.unmap(block, LargeBlocks.least + place * Self.step) }
        }
    }

    /// Returns the size of a block for `count` bytes; nil if there are no blocks of that size.
    static func size(for count: Int) -> Int? {
        guard count >= LargeBlocks.least, count <= largest else { return nil }
        return (count + step - 1) / step * step
    }

    /// Returns a kept or a fresh block of a size from `size(for:)`.
    mutating func take(_ size: Int) -> UnsafeMutableRawPointer {
        let place = Self.place(size)
        guard let block = sizes[place].blocks.popLast() else { return Self.map(size) }
        sizes[place].fewest = min(sizes[place].fewest, sizes[place].blocks.count)
        count -= size
        return block
    }

    /// Keeps a block that `take` returned.
    /// - Returns: false if too much is kept already; the caller then unmaps the block.
    mutating func keep(_ block: UnsafeMutableRawPointer, _ size: Int) -> Bool {
        guard count + size <= Self.most else { return false }
        sizes[Self.place(size)].blocks.append(block)
        count += size
        return true
    }

    /// Passes each block that was unused since the last call to the caller, which unmaps it.
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
            // because nothing can be read without it; Swift, too, stops when an allocation fails
            fatalError("there is no memory for a frame of \(size) bytes: errno \(errno)")
        }
        return block
    }

    private static func place(_ size: Int) -> Int { (size - LargeBlocks.least) / step }
}

/// The handling of large blocks of memory in this process.
public enum LargeBlocks {
    /// From this size on, in bytes, a block has its own pages.
    static let least = 64 << 10
    /// The free memory after all smaller blocks that is kept for the next ones, in bytes.
    private static let kept = 4 << 20

    /// Gives each large block its own pages, in the whole process. The system grows such a block
    /// without copying it. A freed one returns to the system at once, whatever was allocated after
    /// it.
    public static func havePagesOfTheirOwn() { strata_map_large_blocks(Int32(least), Int32(kept)) }

    /// Gives back the pages of a part of a block that is no longer needed. Freeing many pages at
    /// once would block the process for a millisecond.
    static func discard(_ part: UnsafeMutableRawBufferPointer) {
        guard let start = part.baseAddress else { return }
        strata_discard_pages(start, start + part.count)
    }
}
