extension JSONParser {
    /// A number: an integer where it is written as one and fits, else a double.
    mutating func number() throws(JSONError) -> JSON {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        let leadingZero = current == UInt8(ascii: "0")
        let digits = try digits()
        guard !leadingZero || digits == 1 else { throw error("a number has no leading zero", at: start) }
        var isInteger = true
        if current == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            _ = try self.digits()
        }
        if let byte = current, byte | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            _ = try self.digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite else {
            throw error("the number is out of range", at: start)
        }
        return .number(double)
    }

    private mutating func digits() throws(JSONError) -> Int {
        let start = position
        while let byte = current, Self.digits.contains(byte) { position += 1 }
        guard position > start else { throw error("a digit is missing") }
        return position - start
    }
}
