import StrataCore

/// A part of a broker's state that can be written down.
protocol StatePart {
    /// A blank one, to be read into.
    init()
    /// Passes every field through the file, in one order for both directions.
    mutating func pass(_ file: inout StateFile) throws(StateError)
}

/// `try file(&field)` for each kind of field.
extension StateFile {
    mutating func callAsFunction<Value: FixedWidthInteger>(_ value: inout Value) throws(StateError) {
        try integer(&value)
    }

    mutating func callAsFunction<Value: FixedWidthInteger>(_ value: inout Value?) throws(StateError) {
        try optional(&value, 0) { (value, file) throws(StateError) in try file.integer(&value) }
    }

    mutating func callAsFunction<Value: FixedWidthInteger & BitwiseCopyable>(
        _ values: inout [Value]
    ) throws(StateError) {
        try numbers(&values)
    }

    mutating func callAsFunction(_ value: inout WaitingBytes) throws(StateError) { try waiting(&value) }

    mutating func callAsFunction(_ value: inout Bool) throws(StateError) {
        var number: UInt8 = value ? 1 : 0
        try integer(&number)
        value = number != 0
    }

    mutating func callAsFunction(_ value: inout String) throws(StateError) {
        var text = Array(value.utf8)
        try bytes(&text)
        if isReading { value = String(decoding: text, as: UTF8.self) }
    }

    mutating func callAsFunction(_ value: inout String?) throws(StateError) {
        try optional(&value, "") { (value, file) throws(StateError) in try file(&value) }
    }

    mutating func callAsFunction(_ values: inout [String]) throws(StateError) {
        try list(&values, "") { (value, file) throws(StateError) in try file(&value) }
    }

    mutating func callAsFunction(_ values: inout Set<String>) throws(StateError) {
        var list = values.sorted()
        try self(&list)
        if isReading { values = Set(list) }
    }

    /// An enum of numbers.
    mutating func callAsFunction<Value: RawRepresentable>(_ value: inout Value) throws(StateError)
    where Value.RawValue: FixedWidthInteger {
        var number = value.rawValue
        try integer(&number)
        guard let known = Value(rawValue: number) else { throw StateError("\(Value.self) has no case \(number)") }
        value = known
    }

    mutating func callAsFunction<Part: StatePart>(_ part: inout Part) throws(StateError) { try part.pass(&self) }

    mutating func callAsFunction<Part: StatePart>(_ part: inout Part?) throws(StateError) {
        try optional(&part, Part()) { (part, file) throws(StateError) in try part.pass(&file) }
    }

    mutating func callAsFunction<Part: StatePart>(_ parts: inout [Part]) throws(StateError) {
        try list(&parts, Part()) { (part, file) throws(StateError) in try part.pass(&file) }
    }
}
