/// Bytes that one outbox or several send, counted by references. At first they
/// may stand in somebody else's buffer; what the kernel did not take at once is
/// copied then.
///
/// Used on one loop's thread.
public final class Payload {
    public private(set) var bytes: UnsafeRawBufferPointer
    private var isOwned: Bool

    public init(copying source: UnsafeRawBufferPointer) {
        bytes = source
        isOwned = false
        copy()
    }

    /// Refers to bytes that are valid until `own` is called.
    public init(borrowing source: UnsafeRawBufferPointer) {
        bytes = source
        isOwned = false
    }

    deinit { if isOwned { bytes.deallocate() } }

    /// The borrowed bytes go away: copies them where an outbox still needs
    /// them. The caller's reference is the only one otherwise.
    public func own() {
        guard !isOwned else { return }
        if isWaiting { copy() } else { bytes = .none }
    }

    /// Keeps the bytes for later, beside the outboxes that hold it.
    public func hold() { holders += 1 }

    /// Ends a `hold`.
    public func letGo() { holders -= 1 }

    /// How many outboxes hold it.
    var holders = 0
    private var isWaiting: Bool { holders > 0 }

    private func copy() {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        memory.copyMemory(from: bytes)
        bytes = UnsafeRawBufferPointer(memory)
        isOwned = true
    }
}
