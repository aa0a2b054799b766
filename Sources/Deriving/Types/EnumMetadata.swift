/// An enum as the runtime's metadata has it: the number and the names of its cases. Metadata is laid
/// out as docs/ABI/TypeMetadata.rst of Swift says.
struct EnumMetadata {
    private let descriptor: UnsafeRawPointer
    /// Whether a case has values.
    let hasPayloads: Bool
    /// The number of cases without values.
    let count: Int

    /// Nil if the type isn't an enum.
    init?(_ type: any Any.Type) {
        // because a metatype is the address of its metadata
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        // The first word is the kind, the second the type's descriptor.
        guard metadata.load(as: Int.self) == 0x201 else { return nil }
        descriptor = metadata.load(fromByteOffset: 8, as: UnsafeRawPointer.self)
        // The upper byte says where the payload's size stands.
        hasPayloads = descriptor.load(fromByteOffset: 20, as: UInt32.self) & 0xFF_FFFF != 0
        count = Int(descriptor.load(fromByteOffset: 24, as: UInt32.self))
    }

    // The rest is for enums without values.

    /// Returns the cases in order; nil if the type isn't laid out as the smallest integer that
    /// counts them, as an enum that is imported from C.
    func values<Value>(of type: Value.Type) -> [Value]? {
        guard count > 0, MemoryLayout<Value>.size == size else { return nil }
        return (0..<count).map { index in
            withUnsafeTemporaryAllocation(byteCount: 8, alignment: 8) { room in
                room.storeBytes(of: UInt64(index).littleEndian, as: UInt64.self)
                return room.load(as: Value.self)
            }
        }
    }

    /// Returns the name of a value's case in Swift; nil if the program was built without names.
    func name<Value>(of value: Value) -> String? {
        guard !hasPayloads, MemoryLayout<Value>.size == size else { return nil }
        let index = withUnsafeBytes(of: value) { bytes in
            bytes.prefix(size).enumerated().reduce(0) { $0 | Int($1.element) << ($1.offset * 8) }
        }
        guard index < count, let fields = Self.target(at: descriptor + 16) else { return nil }
        let recordSize = Int(fields.load(fromByteOffset: 10, as: UInt16.self))
        guard Int(fields.load(fromByteOffset: 12, as: UInt32.self)) == count, recordSize >= 12 else { return nil }
        let record = fields + 16 + index * recordSize
        return Self.target(at: record + 8).map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    }

    /// The bytes of a value.
    private var size: Int { count == 1 ? 0 : count <= 1 << 8 ? 1 : count <= 1 << 16 ? 2 : 4 }

    /// Follows a relative pointer; nil if it leads nowhere.
    private static func target(at pointer: UnsafeRawPointer) -> UnsafeRawPointer? {
        let offset = pointer.load(as: Int32.self)
        return offset == 0 ? nil : pointer + Int(offset)
    }
}
