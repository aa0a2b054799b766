extension JSON: CustomStringConvertible {
    /// Appends the value as compact JSON: no white space, and escapes only for quotes, backslashes
    /// and control characters. A number that is not finite becomes null, since JSON can't express
    /// it.
    public func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let bool): bytes.append(contentsOf: (bool ? "true" : "false").utf8)
        case .integer(let integer): bytes.append(contentsOf: String(integer).utf8)
        case .number(let number):
            bytes.append(contentsOf: (number.isFinite ? number.description : "null").utf8)
        case .string(let string): Self.write(string, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Returns the value as compact JSON.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// The value as compact JSON.
    public var description: String { String(decoding: encoded(), as: UTF8.self) }

    /// Appends a string in quotes, with the necessary escapes.
    public static func write(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { text in
            let text = UnsafeRawBufferPointer(text)
            let plain = JSONString.plainPrefix(of: text, from: 0)
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[..<plain]))
            for byte in text[plain...] {
                guard JSONString.isSpecial(byte) else {
                    bytes.append(byte)
                    continue
                }
                bytes += [UInt8](unsafeUninitializedCapacity: JSONString.longestEscape) { escape, count in
                    // because there is space for an escape
                    count = JSONString.escape(byte, into: escape.baseAddress!)
                }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
