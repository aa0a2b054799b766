/// Reads the elements of an array.
struct UnkeyedReader: UnkeyedDecodingContainer {
    let state: ReaderState
    private let array: UInt32
    /// The entry of the next element.
    private var next: UInt32
    private(set) var currentIndex = 0

    init(state: ReaderState, array: UInt32) {
        self.state = state
        self.array = array
        next = array + 1
    }

    var codingPath: [any CodingKey] { state.path(of: array) }
    var count: Int? { Int(state.entry(array).pointee.end) }
    var isAtEnd: Bool { next == state.entry(array).pointee.next }

    mutating func decodeNil() throws -> Bool {
        let element = try element(Any?.self)
        guard state.isNull(element) else { return false }
        advance()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let value = try state.bool(at: try element(type))
        advance()
        return value
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let value = try state.text(at: try element(type))
        advance()
        return value
    }

    mutating func decode(_ type: Double.Type) throws -> Double { try number() }
    mutating func decode(_ type: Float.Type) throws -> Float { try number() }
    mutating func decode(_ type: Int.Type) throws -> Int { try integer() }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try state.value(type, at: try element(type))
        advance()
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws
        -> KeyedDecodingContainer<Nested>
    {
        let element = try element(KeyedDecodingContainer<Nested>.self)
        let container = try ValueReader(state: state, index: element).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let element = try element((any UnkeyedDecodingContainer).self)
        let container = try ValueReader(state: state, index: element).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let element = try element((any Decoder).self)
        advance()
        return ValueReader(state: state, index: element)
    }

    @inline(__always)
    private mutating func integer<Integer: FixedWidthInteger>() throws -> Integer {
        let value: Integer = try state.integer(at: try element(Integer.self))
        advance()
        return value
    }

    @inline(__always)
    private mutating func number<Number: JSONFloat>() throws -> Number {
        let value: Number = try state.number(at: try element(Number.self))
        advance()
        return value
    }

    /// Returns the next element without advancing, so a failed read can be repeated.
    @inline(__always)
    private func element(_ type: any Any.Type) throws -> UInt32 {
        guard !isAtEnd else { throw atEnd(type) }
        return next
    }

    @inline(__always)
    private mutating func advance() {
        next = state.entry(next).pointee.next
        currentIndex += 1
    }

    @inline(never)
    private func atEnd(_ type: any Any.Type) -> DecodingError {
        .valueNotFound(
            type,
            .init(
                codingPath: codingPath + [PathKey(currentIndex)],
                debugDescription: "Unkeyed container is at end."))
    }
}
