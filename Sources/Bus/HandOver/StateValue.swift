import StrataCore

/// The type of a field in a broker's state: a number, a text, bytes, a list, or a part.
protocol StateValue {
    /// Creates a blank value, which is then read.
    init()
    /// Writes the value to the file or reads it from there, after its tag.
    mutating func pass(_ file: inout StateFile) throws(StateError)
    /// Does the same for a list.
    static func pass(_ list: inout [Self], _ file: inout StateFile) throws(StateError)
}

/// A part of a broker's state: a value with fields of its own.
///
/// Another build may have other fields. A field that the file lacks keeps the value of a blank
/// part, and a field that this build doesn't know is skipped. So a tag is never reused for
/// something else. A new field needs a blank value that is right for states without it.
protocol StatePart: StateValue {
    /// Passes each field with its tag, in the order of the tags: `try file(1, &number)`. The same
    /// function writes and reads, so the two can't differ.
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

    /// A single waiting frame is passed as a list of one. They are many, so lists of them are
    /// stored as in memory.
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var one = [self]
        try Self.pass(&one, &file)
        guard one.count == 1 else { throw StateError("a frame that waits isn't one") }
        self = one[0]
    }

    static func pass(_ list: inout [Self], _ file: inout StateFile) throws(StateError) { try file.memory(&list) }
}

extension StateFile {
    /// Passes a field that may be nil. It is written only if it isn't nil.
    mutating func callAsFunction<Value: StateValue>(_ tag: UInt16, _ value: inout Value?) throws(StateError) {
        guard isReading || value != nil, try begins(tag) else { return }
        var present = value ?? Value()
        try present.pass(&self)
        value = present
    }

    mutating func callAsFunction<Value: StateValue>(_ tag: UInt16, _ value: inout Value) throws(StateError) {
        if try begins(tag) { try value.pass(&self) }
    }

    /// Passes an enum as its number. A number that this build doesn't know makes the whole state
    /// unreadable.
    mutating func callAsFunction<Value: RawRepresentable>(_ tag: UInt16, _ value: inout Value) throws(StateError)
    where Value.RawValue: StateValue {
        var number = value.rawValue
        try self(tag, &number)
        guard let known = Value(rawValue: number) else { throw StateError("\(Value.self) has no case \(number)") }
        value = known
    }
}
