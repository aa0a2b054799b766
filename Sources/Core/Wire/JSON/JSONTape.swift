/// JSON's bytes and the position of each value in them, in memory that is reused.
///
/// Entries are in the order of the bytes. An object is followed by its members' names and values in
/// turn, an array by its elements.
public struct JSONTape: ~Copyable {
    /// The scanned bytes. They belong to the caller, and must outlive any use of the tape.
    public var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The entries: one for each value and each member's name.
    public private(set) var entries: UnsafeMutablePointer<Entry>
    /// The number of entries.
    public private(set) var count: UInt32 = 0
    private var capacity: UInt32
    /// The number of values whose reading began: each array and object, and each value in them.
    /// Names don't count.
    var values = 0
    /// The name tables of large objects, by the object's index.
    var tables: [UInt32: NameTable] = [:]

    /// A value or a member's name in the bytes.
    public struct Entry {
        /// The kind of a value; a name is a string.
        public enum Kind { case null, no, yes, number, string, array, object }

        /// For a text, the offset after its first quote; for a number, its first byte. For an
        /// object, the entry of the name that is likely to be requested next; for an array, the
        /// first element. For a container that is being scanned, the entry of the outer one.
        public var start: UInt32
        /// The offset after the last byte; for a container, the number of its elements or members.
        public var end: UInt32
        /// The index of the entry after this value and everything in it.
        public var next: UInt32
        /// The value's kind.
        public var kind: Kind
        /// Whether a string has escapes.
        public var isEscaped = false
        /// Whether a number has a fraction or an exponent.
        public var isFraction = false
        /// Whether an object has a table of its names.
        public var isTabled = false
    }

    package init(capacity: UInt32 = 64) {
        self.capacity = capacity
        entries = .allocate(capacity: Int(capacity))
    }

    deinit { entries.deallocate() }

    /// Adds an entry, and returns its index.
    @inline(__always)
    @discardableResult
    mutating func append(_ entry: Entry) -> UInt32 {
        if count == capacity { grow() }
        (entries + Int(count)).initialize(to: entry)
        count += 1
        return count - 1
    }

    @inline(never)
    private mutating func grow() {
        capacity *= 2
        let larger = UnsafeMutablePointer<Entry>.allocate(capacity: Int(capacity))
        larger.moveInitialize(from: entries, count: Int(count))
        entries.deallocate()
        entries = larger
    }

    /// Adds a null that isn't in the bytes.
    package mutating func appendNull() -> UInt32 { append(Entry(start: 0, end: 0, next: count + 1, kind: .null)) }

    /// Discards all entries, and frees memory for more than `kept` of them.
    package mutating func clear(keeping kept: UInt32) {
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        count = 0
        values = 0
        if !tables.isEmpty { tables = [:] }
        guard capacity > kept else { return }
        entries.deallocate()
        capacity = kept
        entries = .allocate(capacity: Int(kept))
    }

    // MARK: Entries

    /// Returns a pointer to an entry, for reading and writing.
    @inlinable @inline(__always)
    public func entry(_ index: UInt32) -> UnsafeMutablePointer<Entry> { entries + Int(index) }

    /// Returns the entries of an object's member names; the entry after each is its value.
    package func members(of object: UInt32) -> [UInt32] {
        var members: [UInt32] = []
        var index = object + 1
        while index < entry(object).pointee.next {
            members.append(index)
            index = entry(index + 1).pointee.next
        }
        return members
    }

    /// Returns the bytes of a text between its quotes, of a number, or of a word.
    @inlinable @inline(__always)
    public func text(_ index: UInt32) -> UnsafeRawBufferPointer {
        let entry = entry(index).pointee
        return UnsafeRawBufferPointer(
            // because where there is an entry, there are bytes
            start: bytes.baseAddress.unsafelyUnwrapped + Int(entry.start), count: Int(entry.end - entry.start))
    }

    /// Returns a string's decoded text.
    @inlinable @inline(__always)
    public func string(_ index: UInt32) -> String {
        JSONString.string(text(index), isEscaped: entry(index).pointee.isEscaped)
    }
}
