import StrataCore

/// What a field of a broker's state can be: a number, a text, bytes, a list, a part.
protocol StateValue {
    /// A blank one, to be read into.
    init()
    /// Passes it through the file, behind its tag.
    mutating func pass(_ file: inout StateFile) throws(StateError)
    /// The same for a list.
    static func pass(_ list: inout [Self], _ file: inout StateFile) throws(StateError)
}

/// A part of a broker's state: a value with fields of its own.
///
/// Another build may have other fields. A field that the file doesn't have keeps the value that
/// it has in a blank part; one that this build doesn't know is passed over. So a tag is never
/// used again for something else, and a field that comes has a blank that is right for states
/// without it.
protocol StatePart: StateValue {
    /// Passes each field with its tag, in the order of the tags: `try file(1, &number)`. One
    /// function for both directions, so that what is written and what is read can't differ.
    mutating func fields(_ file: inout StateFile) throws(StateError)
}

extension StatePart {
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file.part { (file) throws(StateError) in try fields(&file) }
    }
}

extension StateValue {
    static func pass(_ list: inout [Self], _ file: inout StateFile) throws(StateError) {
        var count = list.count
        try file.count(.list, &count)
        if file.isReading { list = (0..<count).map { _ in Self() } }
        for index in list.indices {
            file.beginElement()
            try list[index].pass(&file)
        }
    }
}

extension StateValue where Self: FixedWidthInteger & BitwiseCopyable {
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var number = Int64(truncatingIfNeeded: self)
        try file.number(&number)
        self = Self(truncatingIfNeeded: number)
        guard Int64(truncatingIfNeeded: self) == number else {
            throw StateError("the number \(number) is out of range")
        }
    }

    static func pass(_ list: inout [Self], _ file: inout StateFile) throws(StateError) { try file.memory(&list) }
}

extension Int: StateValue {}
extension UInt8: StateValue {}
extension Int32: StateValue {}
extension UInt32: StateValue {}
extension UInt64: StateValue {}

extension Bool: StateValue {
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var number: Int64 = self ? 1 : 0
        try file.number(&number)
        self = number != 0
    }
}

extension String: StateValue {
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var text = Array(utf8)
        try file.memory(&text)
        if file.isReading { self = String(decoding: text, as: UTF8.self) }
    }
}

extension Array: StateValue where Element: StateValue {
    mutating func pass(_ file: inout StateFile) throws(StateError) { try Element.pass(&self, &file) }
}

extension Set<String>: StateValue {
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var list = sorted()
        try list.pass(&file)
        if file.isReading { self = Set(list) }
    }
}

extension WaitingBytes: StateValue {
    mutating func pass(_ file: inout StateFile) throws(StateError) { try file.waiting(&self) }
}

extension Outbox.Waiting: StateValue {
    init() { self.init(end: 0, inlineCount: 0, isAnswer: false) }

    /// Frames that wait are many: they stand in lists alone, as in memory.
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var one = [self]
        try Self.pass(&one, &file)
        guard one.count == 1 else { throw StateError("a frame that waits isn't one") }
        self = one[0]
    }

    static func pass(_ list: inout [Self], _ file: inout StateFile) throws(StateError) { try file.memory(&list) }
}

extension StateFile {
    /// A field that may be nil is written where it isn't.
    mutating func callAsFunction<Value: StateValue>(_ tag: UInt16, _ value: inout Value?) throws(StateError) {
        guard isReading || value != nil, try begins(tag) else { return }
        var present = value ?? Value()
        try present.pass(&self)
        value = present
    }

    mutating func callAsFunction<Value: StateValue>(_ tag: UInt16, _ value: inout Value) throws(StateError) {
        if try begins(tag) { try value.pass(&self) }
    }

    /// An enum of numbers. One that this build doesn't know refuses the state.
    mutating func callAsFunction<Value: RawRepresentable>(_ tag: UInt16, _ value: inout Value) throws(StateError)
    where Value.RawValue: StateValue {
        var number = value.rawValue
        try self(tag, &number)
        guard let known = Value(rawValue: number) else { throw StateError("\(Value.self) has no case \(number)") }
        value = known
    }
}
