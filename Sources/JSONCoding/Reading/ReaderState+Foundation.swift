internal import FoundationEssentials

extension ReaderState {
    /// Reads a value of one of those types of Foundation that don't look in JSON
    /// as they decode themselves, or of any other.
    @inline(__always)
    func foundationValue<Value: Decodable>(_ type: Value.Type, at index: UInt32) throws -> Value {
        // Because the types are the same one in each of these.
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

    /// A text that means a value of another type.
    private func text(at index: UInt32, for type: any Any.Type) throws -> String {
        if isNull(index) { throw mismatch(type, at: index) }
        return try text(at: index)
    }
}
