/// A large object's members by their names.
struct NameTable {
    /// Entries of names, at the place of their hash or behind it; 0 is none.
    fileprivate var slots: [UInt32]
}

extension ReaderState {
    /// Objects of more members have a table.
    private static let few: UInt32 = 32

    /// The value of an object's member; 0 where there is none. What is asked
    /// for in the order of the members is found at once.
    @inline(__always)
    func find(_ name: String, in object: UInt32) -> UInt32 {
        var name = name
        return name.withUTF8 { find($0, in: object) }
    }

    private func find(_ name: UnsafeBufferPointer<UInt8>, in object: UInt32) -> UInt32 {
        let entry = entry(object)
        let guess = entry.pointee.start
        if guess < entry.pointee.next, isName(guess, name) {
            entry.pointee.start = self.entry(guess + 1).pointee.next
            return guess + 1
        }
        return findElsewhere(name, in: object)
    }

    @inline(never)
    private func findElsewhere(_ name: UnsafeBufferPointer<UInt8>, in object: UInt32) -> UInt32 {
        let flags = entry(object).pointee.flags
        let (guess, end) = (entry(object).pointee.start, entry(object).pointee.next)
        let found: UInt32
        if flags.contains(.tabled) {
            found = findInTable(name, object)
        } else {
            let behind = find(name, from: guess, to: end)
            found = behind != 0 ? behind : find(name, from: object + 1, to: guess)
        }
        if found != 0 { entry(object).pointee.start = entry(found).pointee.next }
        return found
    }

    private func find(_ name: UnsafeBufferPointer<UInt8>, from first: UInt32, to end: UInt32) -> UInt32 {
        var index = first
        while index < end {
            if isName(index, name) { return index + 1 }
            index = entry(index + 1).pointee.next
        }
        return 0
    }

    @inline(__always)
    private func isName(_ index: UInt32, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let entry = entry(index).pointee
        if entry.flags.contains(.escaped) { return JSONText.unescaped(text(index)).elementsEqual(name) }
        return Int(entry.end - entry.start) == name.count && JSONText.equal(text(index), UnsafeRawBufferPointer(name))
    }

    // MARK: Repeated names

    /// Refuses two members of one name: another reader of the same bytes might take the other one,
    /// and an authorizer would allow what the module doesn't do.
    func refuseRepeatedNames() throws(JSONSyntaxError) {
        for object in 0..<tape.count where entry(object).pointee.kind == .object {
            if entry(object).pointee.end > Self.few {
                try makeTable(of: object)
            } else if entry(object).pointee.end > 1 {
                try compareNames(of: object)
            }
        }
    }

    private func compareNames(of object: UInt32) throws(JSONSyntaxError) {
        var seen: UInt64 = 0
        var index = object + 1
        while index < entry(object).pointee.next {
            // One that is written with escapes may be any.
            if entry(index).pointee.flags.contains(.escaped) { return try makeTable(of: object) }
            let bit = JSONText.nameBit(text(index))
            if seen & bit != 0, isRepeated(index, in: object) { throw repeated(index) }
            seen |= bit
            index = entry(index + 1).pointee.next
        }
    }

    private func repeated(_ name: UInt32) -> JSONSyntaxError {
        JSONSyntaxError(offset: Int(entry(name).pointee.start) - 1, message: "a name is there twice")
    }

    private func isRepeated(_ name: UInt32, in object: UInt32) -> Bool {
        var index = object + 1
        while index < name {
            let (one, other) = (text(index), text(name))
            if one.count == other.count, JSONText.equal(one, other) { return true }
            index = entry(index + 1).pointee.next
        }
        return false
    }

    private func makeTable(of object: UInt32) throws(JSONSyntaxError) {
        entry(object).pointee.flags.insert(.tabled)
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

    private func findInTable(_ name: UnsafeBufferPointer<UInt8>, _ object: UInt32) -> UInt32 {
        guard let table = tables[object] else { return 0 }
        let found = table.slots[place(of: name, in: table)]
        return found == 0 ? 0 : found + 1
    }

    /// Where a name is, or would be.
    private func place(of name: UnsafeBufferPointer<UInt8>, in table: NameTable) -> Int {
        // Hashed by the process's secret, so that nobody can choose names that
        // all have one place.
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name))
        var place = hasher.finalize() & (table.slots.count - 1)
        while table.slots[place] != 0, !isName(table.slots[place], name) {
            place = (place + 1) & (table.slots.count - 1)
        }
        return place
    }

    private func withName<Result>(_ index: UInt32, _ use: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if entry(index).pointee.flags.contains(.escaped) {
            return JSONText.unescaped(text(index)).withUnsafeBufferPointer(use)
        }
        return text(index).withMemoryRebound(to: UInt8.self, use)
    }

    // MARK: All names

    /// The object's names in their order.
    func names(of object: UInt32) -> [String] {
        var names: [String] = []
        names.reserveCapacity(Int(entry(object).pointee.end))
        var index = object + 1
        while index < entry(object).pointee.next {
            names.append(string(index))
            index = entry(index + 1).pointee.next
        }
        entry(object).pointee.start = object + 1
        return names
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int { 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
