import StrataCore

/// URLs and what they are mapped by. The first line is a URL; each other one a
/// pattern for one host.
enum URLTarget {
    private static let host = "h"

    static func run(_ input: inout InputReader) throws(Finding) {
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
        if let url { try comesBack(url) }
        var table = URLTable<Int>()
        var patterns: [(pattern: URLPattern, number: Int)] = []
        while !input.isAtEnd, patterns.count < 16 {
            let text = String(decoding: input.line(), as: UTF8.self)
            let pattern: URLPattern
            do throws(BusURLError) { pattern = try URLPattern(text) } catch {
                try judge(error)
                continue
            }
            let isTaken = patterns.contains { $0.pattern.matchesSame(as: pattern) }
            do throws(BusURLError) {
                try table.add(pattern, host: host, value: patterns.count)
                try demandNot(isTaken, "a pattern was mapped twice: \(text)")
                patterns.append((pattern, patterns.count))
            } catch {
                try demand(isTaken && error.code == .nameTaken, "a pattern was refused: \(error)")
                try judge(error)
            }
        }
        try demand(table.count == patterns.count, "\(patterns.count) patterns count as \(table.count)")
        if let url { try resolves(url, table, patterns) }
        for (pattern, number) in patterns {
            try demand(table.value(of: pattern, host: host) == number, "\(pattern.text) has another's value")
            try demand(table.remove(pattern, host: host) == number, "\(pattern.text) can't be taken out")
        }
        try demand(table.count == 0, "an emptied table counts \(table.count)")
    }

    private static func demandNot(_ condition: Bool, _ otherwise: String) throws(BusURLError) {
        precondition(!condition, otherwise)
    }

    /// What `BusURLError` promises of its messages.
    private static func judge(_ error: BusURLError) throws(Finding) {
        try demand(
            error.message.utf8.count < 900 && error.message.utf8.allSatisfy { (0x20...0x7E).contains($0) },
            "a message is too long or not printable: \(error.message)")
    }

    /// A URL made of the parts of one has the same parts.
    private static func comesBack(_ url: BusURL) throws(Finding) {
        func escaped(_ text: DecodedText) -> String {
            let digits = Array("0123456789ABCDEF")
            return String(text.bytes.flatMap { ["%", digits[Int($0 >> 4)], digits[Int($0 & 15)]] as [Character] })
        }
        var text = "\(url.scheme)://\(url.host)"
        for segment in url.segments { text += "/" + escaped(segment) }
        for (index, pair) in url.query.enumerated() {
            text += (index == 0 ? "?" : "&") + escaped(pair.key) + "=" + escaped(pair.value)
        }
        do throws(BusURLError) {
            try demandEqual(try BusURL(text), url)
        } catch {
            throw Finding("the URL \(text), made of a URL's parts, is refused: \(error)")
        }
    }

    private static func demandEqual(_ one: BusURL, _ other: BusURL) throws(BusURLError) {
        precondition(one == other, "a URL made of the parts of \(other) is \(one)")
    }

    /// Compares where the table says that a URL leads with a look at all patterns.
    private static func resolves(
        _ url: BusURL, _ table: URLTable<Int>, _ patterns: [(pattern: URLPattern, number: Int)]
    ) throws(Finding) {
        let best = patterns.filter { matches($0.pattern, url) }.min { isBetter($0.pattern, $1.pattern) }
        do throws(BusURLError) {
            let match = try table.resolve(url, schemes: ["s", "Moments"])
            precondition(match.value == best?.number, "\(url) leads to \(match.pattern.text)")
            precondition(
                (try? JSON(parsing: match.body(), maximumDepth: 2))?.object != nil, "a body is no object of strings")
        } catch {
            try judge(error)
            let code: BusURLError.Code? =
                !["s", "moments"].contains(url.scheme)
                ? .unknownScheme
                : url.host != host || patterns.isEmpty ? .unknownHost : best == nil ? .unknownPath : nil
            try demand(error.code == code, "the URL \(url) was refused: \(error)")
        }
    }

    private static func matches(_ pattern: URLPattern, _ url: BusURL) -> Bool {
        pattern.segments.count == url.segments.count
            && zip(pattern.segments, url.segments).allSatisfy { segment, text in
                switch segment {
                case .literal(let literal): literal == text && !text.isEmpty
                case .bound: !text.isEmpty
                }
            }
    }

    /// Whether the first is literal where the two differ first.
    private static func isBetter(_ one: URLPattern, _ other: URLPattern) -> Bool {
        for (one, other) in zip(one.segments, other.segments) {
            switch (one, other) {
            case (.literal, .bound): return true
            case (.bound, .literal): return false
            case (.literal, .literal), (.bound, .bound): continue
            }
        }
        return false
    }
}
