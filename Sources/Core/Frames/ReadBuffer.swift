internal import Glibc

/// The one buffer that a loop's connections are read into, in turns. What is
/// left of an unfinished frame moves to its peer after the turn, so that an
/// idle connection costs no buffer.
public final class ReadBuffer {
    /// What one turn reads at most.
    public static let turn = 64 << 10
    /// What a frame that fills a turn may lack to be read to its end at once:
    /// so a body of a turn's size comes with its lengths and its header.
    static let mostLacking = 4 << 10
    /// Readable bytes behind whatever stands in the buffer, for loads of words.
    public static let slack = 16
    /// The rest of an unfinished frame that is put before the next turn's bytes.
    static let longestRest = 64 << 10

    let base: UnsafeMutableRawPointer
    static let capacity = longestRest + turn

    public init() {
        // Pages that nothing was read into yet are no memory of the process's.
        guard let memory = calloc(Self.capacity + Self.slack, 1) else {
            // Because without it nothing can be read, as without any other
            // memory that Swift asks for.
            fatalError("there is no memory for a read buffer")
        }
        base = memory
    }

    deinit { free(base) }
}
