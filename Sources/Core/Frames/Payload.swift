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
    /// Where the bytes stand in a file that another program has left.
    private var file: MappedFile?
    /// Its place in the list of payloads that are written down.
    var place: Int?

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

    /// Refers to bytes of a mapped file, and keeps that.
    public init(_ source: UnsafeRawBufferPointer, in file: MappedFile, _ reclaimer: Reclaimer) {
        bytes = source
        self.file = file
        self.reclaimer = reclaimer
        reclaimer.payloadBytes += source.count
    }

    deinit {
        if let file {
            reclaimer?.payloadBytes -= bytes.count
            reclaimer?.take(bytes, of: file)
        }
        guard let memory, let start = memory.baseAddress else { return }
        reclaimer?.payloadBytes -= bytes.count
        reclaimer.deallocate(start, memory.count)
    }

    /// Whether its bytes are somebody else's, who may take them back.
    public var isBorrowed: Bool { memory == nil && file == nil }

    /// The borrowed bytes go away: copies them where an outbox still needs
    /// them. The caller's reference is the only one otherwise.
    public func own() {
        guard isBorrowed else { return }
        if isWaiting { copy() } else { bytes = .none }
    }

    /// Takes over the memory in which the borrowed bytes stand, instead of copying them:
    /// what `FrameAssembler.giveAway` gave.
    public func own(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
        reclaimer?.payloadBytes += bytes.count
    }

    /// So many bytes of the start are written, and nobody needs them again.
    private var discarded = 0
    private static let discardedAtOnce = 128 << 10

    /// Says that the first bytes are written to the one who gets them. Those of a
    /// payload that only one outbox has are given back piece by piece, where its memory
    /// is too large to be kept for the next.
    func wrote(upTo count: Int) {
        guard holders == 1, memory != nil || file != nil, bytes.count > SpareBlocks.largest,
            count - discarded >= Self.discardedAtOnce
        else { return }
        let part = UnsafeRawBufferPointer(rebasing: bytes[discarded..<count])
        if let file { file.discard(file.pages(of: part)) } else { LargeBlocks.discard(.init(mutating: part)) }
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
        reclaimer?.payloadBytes += copy.count
    }
}
