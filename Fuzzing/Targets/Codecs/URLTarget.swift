import StrataCore

/// URLs and the patterns that map them. The first line is a URL, and each further line is a
/// pattern for one host.
enum URLTarget {
    /// A pattern as it was mapped, and as it should have been read.
    private struct Mapped {
        var pattern: URLPattern
        var segments: [URLOracle.Segment]
        var number: Int
    }

    private static let host = "h"

    static func run(_ input: inout InputReader) throws(FuzzFinding) {
        let bytes = input.line()
        let url: BusURL?
        do throws(BusURLError) {
            url = try bytes.withUnsafeBufferPointer { (bytes) throws(BusURLError) in
                try BusURL(UnsafeRawBufferPointer(bytes))
            }
        } catch {
            try demand(error.code == .badURL, "a URL was refused with \(error)")
            try judge(error)
            url = nil
        }
        let expected = URLOracle(bytes)
        let found = url.map { URLOracle($0) }
        try demand(
            found == expected,
            "\(String(decoding: bytes, as: UTF8.self)) was read as \(shown(found)), and is \(shown(expected))")
        var table = URLTable<Int>()
        var mapped: [Mapped] = []
        while !input.isAtEnd, mapped.count < 16 {
            let text = String(decoding: input.line(), as: UTF8.self)
            try map(text, in: &table, &mapped)
        }
        try demand(table.count == mapped.count, "\(mapped.count) patterns count as \(table.count)")
        if let url, let expected { try resolves(url, expected, table, mapped) }
        for one in mapped {
            try demand(
                table.value(of: one.pattern, host: host) == one.number, "\(one.pattern.text) has another's value")
            try demand(
                table.remove(one.pattern, host: host) == one.number, "\(one.pattern.text) can't be taken out")
        }
        try demand(table.count == 0, "an emptied table counts \(table.count)")
    }

    private static func map(
        _ text: String, in table: inout URLTable<Int>, _ mapped: inout [Mapped]
    ) throws(FuzzFinding) {
        let expected = URLOracle.pattern(Array(text.utf8))
        let pattern: URLPattern
        do throws(BusURLError) { pattern = try URLPattern(text) } catch {
            try judge(error)
            return try demand(expected == nil, "a pattern was refused that is one: \(error)")
        }
        guard let expected else { throw FuzzFinding("a pattern was taken that is none: \(text)") }
        let isTaken = mapped.contains { isSame($0.segments, expected) }
        do throws(BusURLError) { try table.add(pattern, host: host, value: mapped.count) } catch {
            try judge(error)
            return try demand(isTaken && error.code == .nameTaken, "a pattern was refused: \(error)")
        }
        try demand(!isTaken, "a pattern was mapped twice: \(text)")
        mapped.append(Mapped(pattern: pattern, segments: expected, number: mapped.count))
    }

    /// Checks what `BusURLError` promises about its messages.
    private static func judge(_ error: BusURLError) throws(FuzzFinding) {
        try demand(
            error.message.utf8.count < 900 && error.message.utf8.allSatisfy { (0x20...0x7E).contains($0) },
            "a message is too long or not printable: \(error.message)")
    }

    /// Compares the table's result for a URL with a search through all patterns.
    private static func resolves(
        _ url: BusURL, _ expected: URLOracle, _ table: URLTable<Int>, _ mapped: [Mapped]
    ) throws(FuzzFinding) {
        let best = mapped.filter { matches($0.segments, expected) }.min { isBetter($0.segments, $1.segments) }
        let match: URLMatch<Int>
        do throws(BusURLError) { match = try table.resolve(url, schemes: ["s", "Moments"]) } catch {
            try judge(error)
            let code: BusURLError.Code? =
                !["s", "moments"].contains(url.scheme)
                ? .unknownScheme
                : url.host != host || mapped.isEmpty ? .unknownHost : best == nil ? .unknownPath : nil
            return try demand(error.code == code, "the URL \(url) was refused: \(error)")
        }
        guard let best, match.value == best.number else {
            throw FuzzFinding("\(url) leads to \(match.pattern.text), not to \(best?.pattern.text ?? "nothing")")
        }
        let body = match.body()
        let members = (try? JSON(parsing: body, maximumDepth: 2))?.object
        let wanted = expected.body(best.segments)
        let isRight =
            members.map { members in
                members.count == wanted.count
                    && zip(members, wanted).allSatisfy { member, wanted in
                        let values = wanted.values.map { JSON.string(String(decoding: $0, as: UTF8.self)) }
                        return member.name.utf8.elementsEqual(wanted.name)
                            && same(member.value, wanted.isArray ? .array(values) : values[0])
                    }
            } ?? false
        try demand(isRight, "the body for \(url) is \(String(decoding: body, as: UTF8.self))")
    }

    /// Compares byte by byte, unlike `==`.
    private static func same(_ one: JSON, _ other: JSON) -> Bool {
        switch (one, other) {
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        case (.array(let one), .array(let other)): one.elementsEqual(other, by: same)
        default: false
        }
    }

    private static func matches(_ pattern: [URLOracle.Segment], _ url: URLOracle) -> Bool {
        let count = url.segments.count
        return (pattern.last?.kind == .rest ? pattern.count <= count : pattern.count == count)
            && !url.segments.contains([])
            && zip(pattern, url.segments).allSatisfy { $0.kind != .literal || $0.text == $1 }
    }

    /// Whether both match the same paths.
    private static func isSame(_ one: [URLOracle.Segment], _ other: [URLOracle.Segment]) -> Bool {
        one.elementsEqual(other) { $0.kind == .literal ? $0 == $1 : $0.kind == $1.kind }
    }

    /// Whether the first pattern has the better kind at the first place where the two differ.
    private static func isBetter(_ one: [URLOracle.Segment], _ other: [URLOracle.Segment]) -> Bool {
        for (one, other) in zip(one, other) where one.kind != other.kind {
            return one.kind.rawValue < other.kind.rawValue
        }
        return false
    }

    private static func shown(_ url: URLOracle?) -> String {
        guard let url else { return "none" }
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        return "\(text(url.scheme)) \(text(url.host)) \(url.segments.map(text)) "
            + "\(url.query.map { "\(text($0.key)): \(text($0.value))" })"
    }
}
