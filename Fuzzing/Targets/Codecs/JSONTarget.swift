import StrataCore
import StrataJSON

/// The coder of modules' messages, compared with the JSON trees of the broker's control traffic.
/// Both must accept and refuse the same texts, with the same values. What the coder writes must
/// be read as the same value.
enum JSONTarget {
    /// Ignores its value, so that only the scan judges the text.
    private struct Ignored: Decodable {
        init(from decoder: any Decoder) {}
    }

    static func run(_ input: inout InputReader) throws(FuzzFinding) {
        let text = input.rest()
        let reader = JSONReader()
        let isTaken = (try? reader.decode(Ignored.self, from: text)) != nil
        let read = try? reader.decode(AnyValue.self, from: text).json
        let parsed: JSON
        do throws(JSONError) {
            parsed = try JSON(parsing: text, maximumDepth: JSONReader.maximumDepth)
        } catch {
            // The coder reads a number only when it is asked for.
            if error.message.contains("out of range") { return }
            return try demand(!isTaken, "the coder took a text that the parser refused \(error)")
        }
        try demand(isTaken, "the coder refused a text that the parser took")
        guard let read else { throw FuzzFinding("a value that was scanned can't be read") }
        try demand(same(parsed, read), "the coder read \(read), the parser \(parsed)")
        guard !hasNoNumber(read) else { return }
        let written: [UInt8]
        do { written = try JSONWriter().encode(AnyValue(read)) } catch {
            throw FuzzFinding("what was read can't be written: \(error)")
        }
        guard let again = try? JSON(parsing: written, maximumDepth: JSONReader.maximumDepth) else {
            throw FuzzFinding("the coder wrote no JSON: \(String(decoding: written, as: UTF8.self))")
        }
        try demand(
            same(again, read, isWritten: true),
            "the coder wrote \(String(decoding: written, as: UTF8.self)) for \(read)")
    }

    /// Whether two values are the same. The first is from the parser and the second from the
    /// coder, which reads a number as an integer if it is one.
    /// - Parameter isWritten: whether the parser read what the coder wrote. A number whose
    ///   fraction was lost to rounding is written as the integer that it became.
    private static func same(_ parsed: JSON, _ read: JSON, isWritten: Bool = false) -> Bool {
        switch (parsed, read) {
        case (.integer(let one), .number(let other)): isWritten && Double(one) == other
        case (.number(let one), .integer(let other)): one == Double(other)
        case (.number(let one), .number(let other)): one == other || one == 0 && other.isNaN
        case (.array(let one), .array(let other)):
            one.count == other.count && zip(one, other).allSatisfy { same($0, $1, isWritten: isWritten) }
        case (.object(let one), .object(let other)):
            one.count == other.count
                && zip(one, other).allSatisfy {
                    $0.name.utf8.elementsEqual($1.name.utf8) && same($0.value, $1.value, isWritten: isWritten)
                }
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        default: parsed == read
        }
    }

    private static func hasNoNumber(_ json: JSON) -> Bool {
        switch json {
        case .number(let number): number.isNaN
        case .array(let elements): elements.contains(where: hasNoNumber)
        case .object(let members): members.contains { hasNoNumber($0.value) }
        case .null, .bool, .integer, .string: false
        }
    }
}
