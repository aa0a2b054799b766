/// Bytes that one outbox or several send, counted by references. At first they
/// may stand in somebody else's buffer; what the kernel did not take at once is
/// copied then.
///
/// Used on one loop's thread.
public final class Payload {
    public private(set) var bytes: UnsafeRawBufferPointer
    /// What is given back at the end; nil where the bytes are somebody else's.
    private var memory: UnsafeMutableRawBufferPointer?
    /// Where it goes then; nil: it is freed at once.
    private let reclaimer: Reclaimer?

    /// - Parameter reclaimer: gives and takes the memory; nil: it is nobody's but this one's.
    public init(copying source: UnsafeRawBufferPointer, _ reclaimer: Reclaimer? = nil) {
        bytes = source
        self.reclaimer = reclaimer
        copy()
    }

    /// Refers to bytes that are valid until `own` is called.
    public init(borrowing source: UnsafeRawBufferPointer, _ reclaimer: Reclaimer? = nil) {
        bytes = source
        self.reclaimer = reclaimer
    }

    deinit {
        guard let memory, let start = memory.baseAddress else { return }
        reclaimer.deallocate(start, memory.count)
    }

    /// The borrowed bytes go away: copies them where an outbox still needs
    /// them. The caller's reference is the only one otherwise.
    public func own() {
        guard memory == nil else { return }
        if isWaiting { copy() } else { bytes = .none }
    }

    /// Takes over the memory in which the borrowed bytes stand, instead of copying them:
    /// what `FrameAssembler.giveAway` gave.
    public func own(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    /// So many bytes of the start are written, and nobody needs them again.
    private var discarded = 0
    private static let discardedAtOnce = 128 << 10

    /// Says that the first bytes are written to the one who gets them. Those of a
    /// payload that only one outbox has are given back piece by piece, where its memory
    /// is too large to be kept for the next.
    func wrote(upTo count: Int) {
        guard holders == 1, memory != nil, bytes.count > SpareBlocks.largest, count - discarded >= Self.discardedAtOnce,
            let start = bytes.baseAddress
        else { return }
        let from = UnsafeMutableRawPointer(mutating: start) + discarded
        LargeBlocks.discard(UnsafeMutableRawBufferPointer(start: from, count: count - discarded))
        discarded = count
    }

    /// Keeps the bytes for later, beside the outboxes that hold it.
    public func hold() { holders += 1 }

    /// Ends a `hold`.
    public func letGo() { holders -= 1 }

    /// How many outboxes hold it.
    var holders = 0
    public var isWaiting: Bool { holders > 0 }

    private func copy() {
        let copy = UnsafeMutableRawBufferPointer(start: reclaimer.allocate(bytes.count), count: bytes.count)
        copy.copyMemory(from: bytes)
        bytes = UnsafeRawBufferPointer(copy)
        memory = copy
    }
}
