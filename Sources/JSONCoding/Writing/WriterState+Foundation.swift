internal import FoundationEssentials

extension WriterState {
    /// Writes a value of those types of Foundation that don't look in JSON as
    /// they encode themselves; false where it is none of them.
    @inline(__always)
    func writeFoundationValue<Value>(_ value: Value, in id: ScopeID) throws -> Bool {
        if Value.self == Date.self {
            // Because the types are the same one; here and below.
            write(unsafeBitCast(value, to: Date.self))
        } else if Value.self == Data.self {
            write(unsafeBitCast(value, to: Data.self))
        } else if Value.self == URL.self {
            write(unsafeBitCast(value, to: URL.self).absoluteString)
        } else if Value.self == Decimal.self {
            try write(unsafeBitCast(value, to: Decimal.self), in: id)
        } else {
            return false
        }
        scopes[Int(id.index)].kind = .scalar
        return true
    }

    @inline(never)
    private func write(_ value: Date) { write(value.formatted(.iso8601)) }

    @inline(never)
    private func write(_ value: Data) {
        append(UInt8(ascii: "\""))
        write(plain: value.base64EncodedString())
        append(UInt8(ascii: "\""))
    }

    @inline(never)
    private func write(_ value: Decimal, in id: ScopeID) throws {
        guard value.isFinite else { throw notANumber(value, "Decimal.\(value)", path(of: id)) }
        write(plain: value.description)
    }
}
