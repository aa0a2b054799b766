extension HeaderScanner {
    /// Reads the value of a string member.
    @inline(__always)
    func string(_ cursor: inout JSONCursor, _ name: StaticString) throws(JSONError) -> Header.Text {
        try string(&cursor, orElse: "\"\(name)\" is not a string")
    }

    /// Reads a string, starting at its quote.
    @inline(__always)
    func string(_ cursor: inout JSONCursor, orElse message: @autoclosure () -> String) throws(JSONError) -> Header.Text
    {
        guard cursor.take(UInt8(ascii: "\"")) else { throw cursor.error(message()) }
        let start = cursor.pointer
        let isEscaped = try cursor.passString()
        let text = Header.Text(start: start, count: cursor.pointer - start - 1)
        return isEscaped ? unescaped(text) : text
    }

    @inline(never)
    private func unescaped(_ text: Header.Text) -> Header.Text {
        let start = scratch + scratchUsed
        let count = JSONString.unescape(text, into: start)
        scratchUsed += count
        return Header.Text(start: start, count: count)
    }

    /// Reads an integer without fraction or exponent, within ±(2^53 - 1).
    /// - Parameter tooLarge: the result for an integer outside that range; nil makes it an error.
    @inline(__always)
    func integer(_ cursor: inout JSONCursor, _ name: StaticString, tooLarge: Int64? = nil) throws(JSONError) -> Int64 {
        let start = cursor.pointer
        // The common case: a short number that is not negative.
        if let value = cursor.passPlainNumber(),
            cursor.peek() == UInt8(ascii: ",") || cursor.peek() == UInt8(ascii: "}")
        {
            return Int64(value)
        }
        cursor.pointer = start
        guard cursor.peek() == UInt8(ascii: "-") || cursor.peek() &- UInt8(ascii: "0") < 10 else {
            throw cursor.error("\"\(name)\" is not an integer")
        }
        guard try !cursor.passNumber() else {
            throw cursor.error("\"\(name)\" is not an integer without fraction or exponent", at: start)
        }
        let text = Header.Text(start: start, count: cursor.pointer - start)
        if text.count <= JSONNumber.longestShort {
            let value = JSONNumber.short(text)
            if value.magnitude <= Self.largestInteger { return value }
        }
        guard let tooLarge else { throw cursor.error("\"\(name)\" is beyond 2^53-1", at: start) }
        return tooLarge
    }

    func boolean(_ cursor: inout JSONCursor, _ name: StaticString) throws(JSONError) -> Bool {
        let isTrue = cursor.peek() == UInt8(ascii: "t")
        guard isTrue || cursor.peek() == UInt8(ascii: "f") else {
            throw cursor.error("\"\(name)\" is neither true nor false")
        }
        try cursor.passWord(isTrue ? "true" : "false")
        return isTrue
    }
}
