internal import StrataCore

extension ReaderState {
    /// The value of an object's member; 0 where there is none. What is asked
    /// for in the order of the members is found at once.
    @inline(__always)
    func find(_ name: String, in object: UInt32) -> UInt32 {
        var name = name
        return name.withUTF8 { find(UnsafeRawBufferPointer($0), in: object) }
    }

    private func find(_ name: UnsafeRawBufferPointer, in object: UInt32) -> UInt32 {
        let entry = entry(object)
        let guess = entry.pointee.start
        if guess < entry.pointee.next, tape.isName(guess, name) {
            entry.pointee.start = self.entry(guess + 1).pointee.next
            return guess + 1
        }
        return findElsewhere(name, in: object)
    }

    @inline(never)
    private func findElsewhere(_ name: UnsafeRawBufferPointer, in object: UInt32) -> UInt32 {
        let (guess, end) = (entry(object).pointee.start, entry(object).pointee.next)
        let found: UInt32
        if entry(object).pointee.isTabled {
            found = tape.findInTable(name, of: object)
        } else {
            let behind = find(name, from: guess, to: end)
            found = behind != 0 ? behind : find(name, from: object + 1, to: guess)
        }
        if found != 0 { entry(object).pointee.start = entry(found).pointee.next }
        return found
    }

    private func find(_ name: UnsafeRawBufferPointer, from first: UInt32, to end: UInt32) -> UInt32 {
        var index = first
        while index < end {
            if tape.isName(index, name) { return index + 1 }
            index = entry(index + 1).pointee.next
        }
        return 0
    }

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
