/// Bytes that several outboxes send, counted by references.
///
/// Immutable once made, and used on one loop's thread.
public final class Payload {
    public let bytes: UnsafeRawBufferPointer

    public init(copying source: UnsafeRawBufferPointer) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 16)
        memory.copyMemory(from: source)
        bytes = UnsafeRawBufferPointer(memory)
    }

    deinit { bytes.deallocate() }
}
