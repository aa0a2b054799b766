internal import StrataCore

/// JSON as contracts are stored: indented by two spaces, with one member or element a line.
///
/// The bytes are those of Python's `json.dumps(value, indent=2, ensure_ascii=False) + "\n"`, so
/// both runtimes write the same file.
enum CanonicalJSON {
    static func encode(_ value: JSON) -> [UInt8] {
        var bytes: [UInt8] = []
        write(value, indent: 0, to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private static func write(_ value: JSON, indent: Int, to bytes: inout [UInt8]) {
        switch value {
        case .null, .bool, .integer, .string: value.write(to: &bytes)
        case .number(let number): bytes += (number.isFinite ? digits(number) : "null").utf8
        case .array(let elements):
            guard !elements.isEmpty else { return bytes += "[]".utf8 }
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                newLine(indent + 1, isFirst: index == 0, to: &bytes)
                write(element, indent: indent + 1, to: &bytes)
            }
            newLine(indent, isFirst: true, to: &bytes)
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            guard !members.isEmpty else { return bytes += "{}".utf8 }
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                newLine(indent + 1, isFirst: index == 0, to: &bytes)
                JSON.write(member.name, to: &bytes)
                bytes += ": ".utf8
                write(member.value, indent: indent + 1, to: &bytes)
            }
            newLine(indent, isFirst: true, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func newLine(_ indent: Int, isFirst: Bool, to bytes: inout [UInt8]) {
        bytes += (isFirst ? "\n" : ",\n").utf8
        bytes += repeatElement(UInt8(ascii: " "), count: 2 * indent)
    }

    /// Returns a finite number as Python's `repr` writes it. Both languages choose the shortest
    /// digits that lead back to the number, but Swift writes an exponent from 2^53 on, and Python
    /// from 1e16 on. In between every double is an integer.
    private static func digits(_ number: Double) -> String {
        (0x1p53..<1e16).contains(number.magnitude) ? "\(Int64(number)).0" : number.description
    }
}
