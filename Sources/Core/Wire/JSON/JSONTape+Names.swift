/// An index of a large object's members by their names.
final class NameTable {
    fileprivate var places = OpenTable<Place>()

    /// Half of a hash is enough, and keeps the table as small as the tape.
    fileprivate struct Place: OpenTableSlot {
        /// The entry of the name. 0 means free, since entry 0 is the outermost value.
        var entry: UInt32 = 0
        var half: UInt32 = 0

        var isFree: Bool { entry == 0 }
        var hash: UInt64 { UInt64(half) }
    }
}

extension JSONTape {
    /// Objects with more members than this get a table.
    private static let few: UInt32 = 32

    /// Refuses two members of the same name. Another reader of the same bytes might take the other
    /// one, so the authorizer might allow something other than what the module does.
    mutating func refuseRepeatedNames(of object: UInt32) throws(JSONError) {
        let (members, end) = (entry(object).pointee.end, entry(object).pointee.next)
        guard members > 1 else { return }
        if members > Self.few { return try makeTable(of: object) }
        var seen: UInt64 = 0
        var index = object + 1
        while index < end {
            // A name that is written with escapes may equal any other one.
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
        let table = NameTable()
        var index = object + 1
        while index < entry(object).pointee.next {
            let (half, place) = withName(index) { name in
                let half = Self.half(of: name)
                return (half, find(name, half, in: table))
            }
            guard place == nil else { throw repeated(index) }
            table.places.add(NameTable.Place(entry: index, half: half))
            index = entry(index + 1).pointee.next
        }
        tables[object] = table
    }

    /// Returns the entry of a member's value, for an object that has a table; 0 if there is none.
    package func findInTable(_ name: UnsafeRawBufferPointer, of object: UInt32) -> UInt32 {
        guard let table = tables[object], let place = find(name, Self.half(of: name), in: table) else { return 0 }
        return table.places[place].entry + 1
    }

    private func find(_ name: UnsafeRawBufferPointer, _ half: UInt32, in table: NameTable) -> Int? {
        table.places.find(UInt64(half)) { $0.half == half && isName($0.entry, name) }
    }

    /// Returns half of a name's hash. It depends on a secret of the process, so that no peer can
    /// choose names which all collide.
    private static func half(of name: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// Whether an entry is this name.
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
    /// The error for a name that occurs twice in one object.
    static func repeated(_ name: String, at offset: Int) -> JSONError {
        JSONError(offset: offset, message: "the name \(JSON.string(String(name.prefix(64)))) is there twice")
    }
}
