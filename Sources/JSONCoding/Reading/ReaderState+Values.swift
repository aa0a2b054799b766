internal import FoundationEssentials
internal import StrataCore

extension ReaderState {
    /// Reads any value.
    @inline(__always)
    func value<Value: Decodable>(_ type: Value.Type, at index: UInt32) throws -> Value {
        // because the types are the same in each of these
        if Value.self == String.self { return unsafeBitCast(try text(at: index), to: Value.self) }
        if Value.self == Int.self { return unsafeBitCast(try integer(at: index) as Int, to: Value.self) }
        if Value.self == Double.self { return unsafeBitCast(try number(at: index) as Double, to: Value.self) }
        if Value.self == Bool.self { return unsafeBitCast(try bool(at: index), to: Value.self) }
        return try foundationValue(type, at: index)
    }

    @inline(__always)
    func isNull(_ index: UInt32) -> Bool { entry(index).pointee.kind == .null }

    func bool(at index: UInt32) throws -> Bool {
        switch entry(index).pointee.kind {
        case .yes: true
        case .no: false
        default: throw mismatch(Bool.self, at: index)
        }
    }

    @inline(__always)
    func text(at index: UInt32) throws -> String {
        guard entry(index).pointee.kind == .string else { throw mismatch(String.self, at: index) }
        return string(index)
    }

    @inline(__always)
    func integer<Integer: FixedWidthInteger>(at index: UInt32) throws -> Integer {
        guard entry(index).pointee.kind == .number else { throw mismatch(Integer.self, at: index) }
        let text = text(index)
        if text.count <= JSONNumber.longestShort, !entry(index).pointee.isFraction,
            let integer = Integer(exactly: JSONNumber.short(text))
        {
            return integer
        }
        guard let integer: Integer = JSONNumber.integer(text) else { throw misfit(Integer.self, at: index) }
        return integer
    }

    @inline(__always)
    func number<Number: JSONFloat>(at index: UInt32) throws -> Number {
        guard entry(index).pointee.kind == .number else { throw mismatch(Number.self, at: index) }
        guard let number: Number = JSONNumber.number(text(index)) else { throw misfit(Number.self, at: index) }
        return number
    }

    // MARK: Errors

    /// Returns the error for a value of another type, or for null.
    @inline(never)
    func mismatch(_ type: any Any.Type, at index: UInt32) -> DecodingError {
        guard !isNull(index) else {
            return .valueNotFound(
                type,
                .init(
                    codingPath: path(of: index),
                    debugDescription: "Cannot get value of type \(type) -- found null value instead"))
        }
        return .typeMismatch(
            type,
            .init(
                codingPath: path(of: index),
                debugDescription: "Expected to decode \(type) but found \(kindName(index)) instead."))
    }

    /// Returns the error for a value that isn't the wanted object or array.
    @inline(never)
    func noContainer(_ type: any Any.Type, _ name: String, at index: UInt32) -> DecodingError {
        guard isNull(index) else { return mismatch(type, at: index) }
        return .valueNotFound(
            type,
            .init(
                codingPath: path(of: index),
                debugDescription: "Cannot get \(name) decoding container -- found null value instead"))
    }

    private func kindName(_ index: UInt32) -> String {
        switch entry(index).pointee.kind {
        case .null: "null"
        case .no, .yes: "bool"
        case .number: "number"
        case .string: "a string"
        case .array: "an array"
        case .object: "a dictionary"
        }
    }

    @inline(never)
    func misfit(_ type: any Any.Type, at index: UInt32) -> DecodingError {
        let text = text(index)
        let shown = String(decoding: text.prefix(40), as: UTF8.self) + (text.count > 40 ? "…" : "")
        return corrupted("Parsed JSON number <\(shown)> does not fit in \(type).", at: index)
    }

    @inline(never)
    func corrupted(_ message: String, at index: UInt32) -> DecodingError {
        .dataCorrupted(.init(codingPath: path(of: index), debugDescription: message))
    }
}

extension ReaderState {
    /// Reads a value of a Foundation type whose JSON form differs from its own encoding, or of any
    /// other type.
    @inline(__always)
    func foundationValue<Value: Decodable>(_ type: Value.Type, at index: UInt32) throws -> Value {
        // because the types are the same in each of these
        if Value.self == Date.self { return unsafeBitCast(try date(at: index), to: Value.self) }
        if Value.self == Data.self { return unsafeBitCast(try data(at: index), to: Value.self) }
        if Value.self == URL.self { return unsafeBitCast(try url(at: index), to: Value.self) }
        if Value.self == Decimal.self { return unsafeBitCast(try decimal(at: index), to: Value.self) }
        return try Value(from: ValueReader(state: self, index: index))
    }

    @inline(never)
    private func date(at index: UInt32) throws -> Date {
        guard let date = try? Date.ISO8601FormatStyle().parse(try text(at: index, for: Date.self)) else {
            throw corrupted("Expected date string to be ISO8601-formatted.", at: index)
        }
        return date
    }

    @inline(never)
    private func data(at index: UInt32) throws -> Data {
        guard let data = Data(base64Encoded: try text(at: index, for: Data.self)) else {
            throw corrupted("Encountered Data is not valid Base64.", at: index)
        }
        return data
    }

    @inline(never)
    private func url(at index: UInt32) throws -> URL {
        guard let url = URL(string: try text(at: index, for: URL.self)) else {
            throw corrupted("Invalid URL string.", at: index)
        }
        return url
    }

    @inline(never)
    private func decimal(at index: UInt32) throws -> Decimal {
        guard entry(index).pointee.kind == .number else { throw mismatch(Decimal.self, at: index) }
        guard let decimal = Decimal(string: String(decoding: text(index), as: UTF8.self)), decimal.isFinite else {
            throw misfit(Decimal.self, at: index)
        }
        return decimal
    }

    /// Returns a text that represents a value of another type.
    private func text(at index: UInt32, for type: any Any.Type) throws -> String {
        if isNull(index) { throw mismatch(type, at: index) }
        return try text(at: index)
    }
}
