/// A large object's members by their names.
final class NameTable {
    fileprivate var places = OpenTable<Place>()

    /// Half of a hash is enough, and keeps the table as small as the tape.
    fileprivate struct Place: OpenTableSlot {
        /// The name's; 0, the outermost value's, is none.
        var entry: UInt32 = 0
        var half: UInt32 = 0

        var isFree: Bool { entry == 0 }
        var hash: UInt64 { UInt64(half) }
    }
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

    /// The value of a member of an object that has a table; 0 where there is none.
    package func findInTable(_ name: UnsafeRawBufferPointer, of object: UInt32) -> UInt32 {
        guard let table = tables[object], let place = find(name, Self.half(of: name), in: table) else { return 0 }
        return table.places[place].entry + 1
    }

    private func find(_ name: UnsafeRawBufferPointer, _ half: UInt32, in table: NameTable) -> Int? {
        table.places.find(UInt64(half)) { $0.half == half && isName($0.entry, name) }
    }

    /// Half of a name's hash, by the process's secret: so nobody can choose names that all have one place.
    private static func half(of name: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        return UInt32(truncatingIfNeeded: hasher.finalize())
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
