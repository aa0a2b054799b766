/// A large object's members by their names.
struct NameTable {
    /// Entries of names, at the place of their hash or behind it; 0 is none.
    fileprivate var slots: [UInt32]
}

extension JSONTape {
    /// Objects of more members have a table.
    private static let few: UInt32 = 32

    /// Refuses two members of one name: another reader of the same bytes might take the other one,
    /// and an authorizer would allow what the module doesn't do.
    mutating func refuseRepeatedNames(of object: UInt32) throws(JSONError) {
        let (members, end) = (entry(object).pointee.end, entry(object).pointee.next)
        guard members > 1 else { return }
        if members > Self.few { return try makeTable(of: object) }
        var seen: UInt64 = 0
        var index = object + 1
        while index < end {
            // One that is written with escapes may be any.
            if entry(index).pointee.isEscaped { return try makeTable(of: object) }
            let bit = JSONString.nameBit(text(index))
            if seen & bit != 0, isRepeated(index, in: object) { throw repeated(index) }
            seen |= bit
            index = entry(index + 1).pointee.next
        }
    }

    private func repeated(_ name: UInt32) -> JSONError {
        .repeated(string(name), at: Int(entry(name).pointee.start) - 1)
    }

    private func isRepeated(_ name: UInt32, in object: UInt32) -> Bool {
        var index = object + 1
        while index < name {
            let (one, other) = (text(index), text(name))
            if one.count == other.count, JSONString.equal(one, other) { return true }
            index = entry(index + 1).pointee.next
        }
        return false
    }

    private mutating func makeTable(of object: UInt32) throws(JSONError) {
        entry(object).pointee.isTabled = true
        let size = Int(entry(object).pointee.end * 2).nextPowerOfTwo
        var table = NameTable(slots: Array(repeating: 0, count: size))
        var index = object + 1
        while index < entry(object).pointee.next {
            let slot = withName(index) { place(of: $0, in: table) }
            guard table.slots[slot] == 0 else { throw repeated(index) }
            table.slots[slot] = index
            index = entry(index + 1).pointee.next
        }
        tables[object] = table
    }

    /// The value of a member of an object that has a table; 0 where there is none.
    package func findInTable(_ name: UnsafeRawBufferPointer, of object: UInt32) -> UInt32 {
        guard let table = tables[object] else { return 0 }
        let found = table.slots[place(of: name, in: table)]
        return found == 0 ? 0 : found + 1
    }

    /// Where a name is, or would be.
    private func place(of name: UnsafeRawBufferPointer, in table: NameTable) -> Int {
        // Hashed by the process's secret, so that nobody can choose names that
        // all have one place.
        var hasher = Hasher()
        hasher.combine(bytes: name)
        var place = hasher.finalize() & (table.slots.count - 1)
        while table.slots[place] != 0, !isName(table.slots[place], name) {
            place = (place + 1) & (table.slots.count - 1)
        }
        return place
    }

    /// Whether an entry is that name.
    @inlinable @inline(__always)
    public func isName(_ index: UInt32, _ name: UnsafeRawBufferPointer) -> Bool {
        let entry = entry(index).pointee
        if entry.isEscaped { return JSONString.isEqual(escaped: text(index), name) }
        return Int(entry.end - entry.start) == name.count && JSONString.equal(text(index), name)
    }

    private func withName<Result>(_ index: UInt32, _ use: (UnsafeRawBufferPointer) -> Result) -> Result {
        entry(index).pointee.isEscaped ? JSONString.withUnescaped(text(index), use) : use(text(index))
    }
}

extension JSONError {
    /// A name that comes twice in one object.
    static func repeated(_ name: String, at offset: Int) -> JSONError {
        JSONError(offset: offset, message: "the name \(JSON.string(String(name.prefix(64)))) is there twice")
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int { 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
