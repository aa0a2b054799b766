internal import Glibc

/// Reference-counted bytes that one or more outboxes send. They may first be in a borrowed buffer;
/// what the kernel didn't take at once is then copied.
///
/// Used on the thread of one loop.
public final class Payload {
    public private(set) var bytes: UnsafeRawBufferPointer
    /// The memory to free at the end; nil if the payload doesn't own the bytes.
    private var memory: UnsafeMutableRawBufferPointer?
    /// Takes the memory then; if nil, it is freed at once.
    private let reclaimer: Reclaimer?
    /// The file that holds the bytes, if another program left them in one.
    private var file: MappedFile?
    /// The descriptors that go with the frame.
    public var descriptors: FrameDescriptors?
    /// Its index in a `PayloadList`.
    var place: Int?

    /// - Parameter reclaimer: provides the memory and takes it back; if nil, malloc and free do.
    public init(copying source: UnsafeRawBufferPointer, _ reclaimer: Reclaimer? = nil) {
        bytes = source
        self.reclaimer = reclaimer
        copy()
    }

    /// Refers to bytes that stay valid until `own` is called.
    public init(borrowing source: UnsafeRawBufferPointer, _ reclaimer: Reclaimer? = nil) {
        bytes = source
        self.reclaimer = reclaimer
    }

    /// Refers to bytes in a mapped file, and keeps the file.
    public init(_ source: UnsafeRawBufferPointer, in file: MappedFile, _ reclaimer: Reclaimer) {
        bytes = source
        self.file = file
        self.reclaimer = reclaimer
        reclaimer.payloadCount += source.count
    }

    deinit {
        if let file {
            reclaimer?.payloadCount -= bytes.count
            if file.givesPagesBack { reclaimer?.take(bytes, of: file) }
        }
        guard let memory, let start = memory.baseAddress else { return }
        reclaimer?.payloadCount -= bytes.count
        reclaimer.deallocate(start, memory.count)
    }

    /// Whether the bytes belong to another owner, which may take them back.
    public var isBorrowed: Bool { memory == nil && file == nil }

    /// Copies borrowed bytes before they go away, if an outbox still needs them. Otherwise only the
    /// caller refers to this payload.
    public func own() {
        guard isBorrowed else { return }
        if isWaiting { copy() } else { bytes = .none }
    }

    /// Takes over the memory that holds the borrowed bytes instead of copying them; the memory is
    /// from `FrameAssembler.giveAway`.
    public func own(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
        reclaimer?.payloadCount += bytes.count
    }

    /// Keeps the file that holds the borrowed bytes instead of copying them.
    public func own(_ file: MappedFile) {
        guard isWaiting else { return own() }
        self.file = file
        reclaimer?.payloadCount += bytes.count
    }

    /// The number of bytes at the start that are written and already given back.
    private var discarded = 0
    private static let discardedAtOnce = 128 << 10

    /// Records that the first `count` bytes are written. If only one outbox holds the payload,
    /// those bytes are given back in steps. That applies only to memory that is too large to be
    /// kept for reuse.
    func wrote(upTo count: Int) {
        guard holders == 1, memory != nil || file != nil, bytes.count > SpareBlocks.largest,
            count - discarded >= Self.discardedAtOnce
        else { return }
        let part = UnsafeRawBufferPointer(rebasing: bytes[discarded..<count])
        if let file { file.discard(file.pages(of: part)) } else { LargeBlocks.discard(.init(mutating: part)) }
        discarded = count
    }

    /// Keeps the bytes for later, in addition to the outboxes that hold them.
    public func hold() { holders += 1 }

    /// Ends a `hold`.
    public func letGo() { holders -= 1 }

    /// The number of outboxes that hold it, plus the number of `hold`s.
    var holders = 0
    public var isWaiting: Bool { holders > 0 }

    private func copy() {
        let copy = UnsafeMutableRawBufferPointer(start: reclaimer.allocate(bytes.count), count: bytes.count)
        copy.copyMemory(from: bytes)
        bytes = UnsafeRawBufferPointer(copy)
        memory = copy
        reclaimer?.payloadCount += copy.count
    }
}

/// The payloads that a broker's state refers to. Each appears once, however many connections wait
/// for it.
public struct PayloadList: ~Copyable {
    public private(set) var payloads: [Payload] = []

    public init() {}

    deinit { for payload in payloads { payload.place = nil } }

    /// Returns a payload's index in the list, after adding it if necessary.
    public mutating func place(of payload: Payload) -> Int {
        if let place = payload.place { return place }
        let place = payloads.count
        payload.place = place
        payloads.append(payload)
        return place
    }
}

/// Collects bytes that come in chunks, and turns them into a payload without a copy. When the
/// memory is large, the system moves its pages to make it grow (`LargeBlocks`).
///
/// Used on the thread of one loop.
public struct PayloadWriter: ~Copyable {
    /// The size of a small buffer, in bytes.
    private static let small = 16 << 10
    /// The first size of a large buffer, in bytes. It is more than the C library keeps for small
    /// blocks, so the buffer has its own pages. It is also more than `SpareBlocks` hold, as those
    /// can't grow. Untouched pages take no memory.
    private static let large = 8 << 20

    private let reclaimer: Reclaimer
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    public private(set) var count = 0

    /// - Parameter reclaimer: takes the memory back, in steps.
    public init(_ reclaimer: Reclaimer) { self.reclaimer = reclaimer }

    deinit { if let start = memory.baseAddress { reclaimer.deallocate(start, memory.count) } }

    public mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        if count + bytes.count > memory.count { grow(to: count + bytes.count) }
        bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: $0) }
        count += bytes.count
    }

    /// Returns the written bytes and leaves the writer empty.
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
            // Because no answer can be made without it; Swift, too, stops when an allocation fails.
            fatalError("there is no memory for a body of \(capacity) bytes")
        }
        memory = .init(start: resized, count: capacity)
    }
}
