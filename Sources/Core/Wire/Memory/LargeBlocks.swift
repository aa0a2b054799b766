internal import CUV

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
