internal import StrataCore

/// What the decoders and containers of one text share: its bytes and its tape.
///
/// The properties are unchecked for exclusivity because each access is one load
/// or store, or in a method that calls nothing that could come back here.
final class ReaderState {
    @exclusivity(unchecked) var tape = JSONTape()
    /// Whether the tape's bytes are its own, and not those of whom it reads for.
    @exclusivity(unchecked) private var ownsBytes = false
    /// Where each value is, once a path was asked for.
    @exclusivity(unchecked) var places: [Place] = []
    /// Values that aren't there, but have a decoder.
    @exclusivity(unchecked) var absent: [UInt32: (parent: UInt32, key: PathKey)] = [:]

    /// What a value is a part of, and which part.
    struct Place {
        let parent: UInt32
        /// In an array the element's number; in an object the name's entry.
        let part: UInt32
    }

    deinit {
        if ownsBytes { tape.bytes.deallocate() }
    }

    /// - Throws: `DecodingError` where the bytes are no JSON.
    func scan(_ bytes: UnsafeRawBufferPointer) throws {
        do throws(JSONError) { try tape.scan(bytes, maximumDepth: JSONReader.maximumDepth) } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "The given data was not valid JSON: \(error)."))
        }
    }

    /// Makes it ready for another text.
    func reset() {
        tape.clear(keeping: UInt32(JSONReader.keptValues))
        if !places.isEmpty { places = [] }
        if !absent.isEmpty { absent = [:] }
    }

    /// Makes it independent of whom it read for.
    func keepBytes() {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: tape.bytes.count, alignment: 1)
        copy.copyMemory(from: tape.bytes)
        tape.bytes = UnsafeRawBufferPointer(copy)
        ownsBytes = true
    }

    // MARK: Entries

    @inline(__always)
    func entry(_ index: UInt32) -> UnsafeMutablePointer<JSONTape.Entry> { tape.entry(index) }

    /// The bytes of a text between its quotes, or of a number.
    @inline(__always)
    func text(_ index: UInt32) -> UnsafeRawBufferPointer { tape.text(index) }

    @inline(__always)
    func string(_ index: UInt32) -> String { tape.string(index) }

    /// A value that isn't there, as null.
    func absentValue(_ key: PathKey, of parent: UInt32) -> UInt32 {
        let index = tape.appendNull()
        absent[index] = (parent, key)
        return index
    }

    // MARK: Paths

    /// The keys that lead to a value.
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

    /// For all values at once: one by one, each would take as long as the text.
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
