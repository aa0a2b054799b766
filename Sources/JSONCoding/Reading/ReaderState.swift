internal import StrataCore

/// The state that all decoders and containers of one text share: its bytes and its tape.
///
/// The properties are unchecked for exclusivity. Each access is a single load or store, or is in a
/// method that makes no calls which could return here.
final class ReaderState {
    @exclusivity(unchecked) var tape = JSONTape()
    /// Whether the state owns the tape's bytes, instead of borrowing the caller's.
    @exclusivity(unchecked) private(set) var ownsBytes = false
    /// The place of each value; filled in when a path is first requested.
    @exclusivity(unchecked) var places: [Place] = []
    /// The missing values for which a decoder was requested.
    @exclusivity(unchecked) var absent: [UInt32: (parent: UInt32, key: PathKey)] = [:]

    @exclusivity(unchecked) var makers = ContainerMakers()

    /// The container of a value, and the value's place in it.
    struct Place {
        let parent: UInt32
        /// In an array, the element's index; in an object, the entry of the name.
        let part: UInt32
    }

    deinit {
        if ownsBytes { tape.bytes.deallocate() }
    }

    /// - Throws: `DecodingError` if the bytes aren't JSON.
    func scan(_ bytes: UnsafeRawBufferPointer) throws {
        do throws(JSONError) { try tape.scan(bytes, maximumDepth: JSONReader.maximumDepth) } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "The given data was not valid JSON: \(error)."))
        }
    }

    /// Prepares the state for another text.
    func reset() {
        tape.clear(keeping: UInt32(JSONReader.keptValues))
        if !places.isEmpty { places = [] }
        if !absent.isEmpty { absent = [:] }
    }

    /// Copies the caller's bytes, so that the state stays valid without them.
    func keepBytes() {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: tape.bytes.count, alignment: 1)
        copy.copyMemory(from: tape.bytes)
        tape.bytes = UnsafeRawBufferPointer(copy)
        ownsBytes = true
    }

    // MARK: Entries

    @inline(__always)
    func entry(_ index: UInt32) -> UnsafeMutablePointer<JSONTape.Entry> { tape.entry(index) }

    /// Returns the bytes of a text between its quotes, or of a number.
    @inline(__always)
    func text(_ index: UInt32) -> UnsafeRawBufferPointer { tape.text(index) }

    @inline(__always)
    func string(_ index: UInt32) -> String { tape.string(index) }

    /// Adds a missing value as null.
    func absentValue(_ key: PathKey, of parent: UInt32) -> UInt32 {
        let index = tape.appendNull()
        absent[index] = (parent, key)
        return index
    }

    // MARK: Paths

    /// Returns the keys that lead to a value.
    func path(of index: UInt32) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var index = index
        while index != 0 {
            if let absent = absent[index] {
                path.append(absent.key)
                index = absent.parent
                continue
            }
            if places.isEmpty { findPlaces() }
            let place = places[Int(index)]
            if entry(place.parent).pointee.kind == .array {
                path.append(PathKey(Int(place.part)))
            } else {
                path.append(PathKey(string(place.part)))
            }
            index = place.parent
        }
        return path.reversed()
    }

    /// Finds the places of all values at once. Finding a single one would take as long.
    private func findPlaces() {
        places = Array(repeating: Place(parent: 0, part: 0), count: Int(tape.count))
        var containers: [UInt32] = [0]
        while let container = containers.popLast() {
            let isObject = entry(container).pointee.kind == .object
            guard isObject || entry(container).pointee.kind == .array else { continue }
            var index = container + 1
            var number: UInt32 = 0
            while index < entry(container).pointee.next {
                let value = isObject ? index + 1 : index
                places[Int(value)] = Place(parent: container, part: isObject ? index : number)
                if entry(value).pointee.kind == .object || entry(value).pointee.kind == .array {
                    containers.append(value)
                }
                index = entry(value).pointee.next
                number += 1
            }
        }
    }
}

extension ReaderState {
    /// Returns the value of an object's member; 0 if there is none. Requests in the order of the
    /// members need no search.
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

    /// Returns the object's names in order.
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
