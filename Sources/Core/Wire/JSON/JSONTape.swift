/// JSON's bytes and where each value in them is, in memory that is kept for the
/// next. Entries are in the order of the bytes: an object is followed by its
/// members' names and values in turn, an array by its elements.
public struct JSONTape: ~Copyable {
    /// Those of whom it was scanned for, which must outlive its use.
    public var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    /// One for each value and each member's name.
    public private(set) var entries: UnsafeMutablePointer<Entry>
    /// The number of entries.
    public private(set) var count: UInt32 = 0
    private var capacity: UInt32
    /// The values that were begun: each array and object, and what stands in
    /// them. Names are none.
    var values = 0
    /// The names of large objects, by the object's index.
    var tables: [UInt32: NameTable] = [:]

    /// One value or member's name in the bytes.
    public struct Entry {
        /// What a value is; a name is a string.
        public enum Kind { case null, no, yes, number, string, array, object }

        /// Of a text, between its quotes, and of a number the first byte. Of an
        /// object the name that is probably asked for next; of an array the first
        /// element. While the container is being scanned, the one around it.
        public var start: UInt32
        /// Behind the last byte; of a container the number of elements or members.
        public var end: UInt32
        /// The entry behind this value and all in it.
        public var next: UInt32
        /// What it is.
        public var kind: Kind
        /// Of a string: there are escapes in it.
        public var isEscaped = false
        /// Of a number: there is a fraction or an exponent.
        public var isFraction = false
        /// Of an object: a table of its names was made.
        public var isTabled = false
    }

    package init(capacity: UInt32 = 64) {
        self.capacity = capacity
        entries = .allocate(capacity: Int(capacity))
    }

    deinit { entries.deallocate() }

    /// Adds an entry, and gives its index.
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

    /// Adds a null that stands nowhere in the bytes.
    package mutating func appendNull() -> UInt32 { append(Entry(start: 0, end: 0, next: count + 1, kind: .null)) }

    /// Forgets all, and gives back memory beyond so many entries.
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

    /// An entry, to be read and changed.
    @inlinable @inline(__always)
    public func entry(_ index: UInt32) -> UnsafeMutablePointer<Entry> { entries + Int(index) }

    /// The names of an object's members; the value of each is the entry behind it.
    package func members(of object: UInt32) -> [UInt32] {
        var members: [UInt32] = []
        var index = object + 1
        while index < entry(object).pointee.next {
            members.append(index)
            index = entry(index + 1).pointee.next
        }
        return members
    }

    /// The bytes of a text between its quotes, of a number or a word.
    @inlinable @inline(__always)
    public func text(_ index: UInt32) -> UnsafeRawBufferPointer {
        let entry = entry(index).pointee
        return UnsafeRawBufferPointer(
            // Because where there is an entry, there are bytes.
            start: bytes.baseAddress.unsafelyUnwrapped + Int(entry.start), count: Int(entry.end - entry.start))
    }

    /// A string's text, without escapes.
    @inlinable @inline(__always)
    public func string(_ index: UInt32) -> String {
        JSONString.string(text(index), isEscaped: entry(index).pointee.isEscaped)
    }
}
