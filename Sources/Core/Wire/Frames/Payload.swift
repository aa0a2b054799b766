internal import Glibc

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

/// The payloads that a broker's state refers to: each stands in it once, however many
/// connections it waits for.
public struct PayloadList: ~Copyable {
    public private(set) var payloads: [Payload] = []

    public init() {}

    deinit { for payload in payloads { payload.place = nil } }

    /// A payload's place in the list; it is added where it has none.
    public mutating func place(of payload: Payload) -> Int {
        if let place = payload.place { return place }
        let place = payloads.count
        payload.place = place
        payloads.append(payload)
        return place
    }
}

/// Bytes that come piece by piece and become a payload without a copy: the system moves the
/// pages of what has grown large (`LargeBlocks`).
///
/// Used on one loop's thread.
public struct PayloadWriter: ~Copyable {
    /// What is small has so many bytes at most.
    private static let small = 16 << 10
    /// What isn't has so much room at first: more than the C library keeps for small blocks,
    /// so that it has pages of its own, and more than `SpareBlocks` have, which can't grow.
    /// Pages that nothing was written to are no memory yet.
    private static let large = 8 << 20

    private let reclaimer: Reclaimer
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    public private(set) var count = 0

    /// - Parameter reclaimer: takes the memory back, piece by piece.
    public init(_ reclaimer: Reclaimer) { self.reclaimer = reclaimer }

    deinit { if let start = memory.baseAddress { reclaimer.deallocate(start, memory.count) } }

    public mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if count + bytes.count > memory.count { grow(to: count + bytes.count) }
        bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: $0) }
        count += bytes.count
    }

    /// What was written; the writer is empty after it.
    public mutating func take() -> Payload {
        if memory.count > Self.small { resize(to: max(count, SpareBlocks.largest + 1)) }
        let payload = Payload(borrowing: UnsafeRawBufferPointer(rebasing: memory[..<count]), reclaimer)
        payload.own(memory)
        memory = .init(start: nil, count: 0)
        count = 0
        return payload
    }

    private mutating func grow(to least: Int) {
        var capacity = least <= Self.small ? Self.small : Self.large
        while capacity < least { capacity *= 2 }
        resize(to: capacity)
    }

    private mutating func resize(to capacity: Int) {
        guard let resized = realloc(memory.baseAddress, capacity) else {
            // Because without it no answer can be made, as without any other memory that
            // Swift asks for.
            fatalError("there is no memory for a body of \(capacity) bytes")
        }
        memory = .init(start: resized, count: capacity)
    }
}
