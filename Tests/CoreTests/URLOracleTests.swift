import StrataCore
import StrataTesting
import TestSupport
import Testing

/// Compares the table with a matcher that tries every pattern, as the sentences of the protocol's
/// section 9 say.
@Suite struct URLOracleTests {
    /// A mapped pattern, as it was written.
    private struct Rule {
        var host: String
        var path: [String]
        var number: Int

        var text: String { path.isEmpty ? "/" : path.map { "/" + $0 }.joined() }

        /// What stands at a segment: 0 for a literal, 1 for a bound segment, 2 for a rest.
        static func kind(_ segment: String) -> Int { segment.hasPrefix(":") ? 1 : segment.hasPrefix("*") ? 2 : 0 }

        func matches(_ segments: [String]) -> Bool {
            let hasRest = path.last.map(Self.kind) == 2
            guard hasRest ? segments.count >= path.count : segments.count == path.count else { return false }
            return !segments.contains("")
                && zip(path, segments).allSatisfy {
                    Self.kind($0) > 0 || URLOracleTests.decoded($0) == URLOracleTests.decoded($1)
                }
        }

        /// Of two that match one path, the better has the lesser kind in the first segment that
        /// differs.
        func beats(_ other: Rule) -> Bool {
            for (one, other) in zip(path, other.path) where Self.kind(one) != Self.kind(other) {
                return Self.kind(one) < Self.kind(other)
            }
            return false
        }

        /// Whether both are the same but for names.
        func isSame(as other: Rule) -> Bool {
            host.lowercased() == other.host.lowercased()
                && path.elementsEqual(other.path) {
                    Self.kind($0) == Self.kind($1)
                        && (Self.kind($0) > 0 || URLOracleTests.decoded($0) == URLOracleTests.decoded($1))
                }
        }

        /// The members of the body for a path that matches.
        func body(_ segments: [String], _ query: [(String, String)]) -> [JSON.Member] {
            var members: [JSON.Member] = []
            for (place, segment) in path.enumerated() where Self.kind(segment) > 0 {
                let isRest = Self.kind(segment) == 2
                let value = isRest ? segments[place...].joined(separator: "/") : URLOracleTests.decoded(segments[place])
                members.append(.init(String(segment.dropFirst()), .string(value)))
            }
            for (key, value) in query where !members.contains(where: { $0.name == key }) {
                members.append(.init(key, .string(value)))
            }
            return members
        }
    }

    /// Decodes the few escapes that these tests use.
    private static func decoded(_ segment: String) -> String {
        [("%61", "a"), ("%2A", "*"), ("%2F", "/"), ("%3A", ":")].reduce(segment) { text, escape in
            text.split(separator: escape.0, omittingEmptySubsequences: false).joined(separator: escape.1)
        }
    }

    private static let hosts = ["h", "H", "g", "*", "a*"]
    private static let literals = ["a", "b", "%61", "%2A", "%2F", "%3An0", "A"]

    private static func rule(_ random: inout SeededGenerator, isLong: Bool, number: Int) -> Rule {
        let count = isLong ? Int.random(in: 61...64, using: &random) : Int.random(in: 0...4, using: &random)
        let bound = Int.random(in: 0...6, using: &random)
        let mark = ["n", "m"].randomElement(using: &random) ?? "n"
        var path = (0..<count).map { place in
            if Int.random(in: 0..<10, using: &random) < bound { return ":\(mark)\(place)" }
            return isLong && place > 1 ? "a" : literals.randomElement(using: &random) ?? "a"
        }
        if count > 0, Bool.random(using: &random) { path[count - 1] = "*\(mark)\(count - 1)" }
        return Rule(host: hosts.randomElement(using: &random) ?? "h", path: path, number: number)
    }

    /// Returns the segments of a URL's path. Half of them follow a pattern.
    private static func segments(_ random: inout SeededGenerator, isLong: Bool, like rules: [Rule]) -> [String] {
        let texts = ["a", "b", "%61", "*", "%2A", "%2F", ":n0", "A", "x", "*n1"]
        func any(_ random: inout SeededGenerator) -> String {
            if Int.random(in: 0..<60, using: &random) == 0 { return "" }
            return isLong && Bool.random(using: &random) ? "a" : texts.randomElement(using: &random) ?? "a"
        }
        let count = isLong ? Int.random(in: 60...70, using: &random) : Int.random(in: 0...6, using: &random)
        guard Bool.random(using: &random), let rule = rules.randomElement(using: &random) else {
            return (0..<count).map { _ in any(&random) }
        }
        var segments = rule.path.map { Rule.kind($0) > 0 ? any(&random) : $0 }
        if rule.path.last.map(Rule.kind) == 2 {
            for _ in 0..<Int.random(in: 0...3, using: &random) { segments.append(any(&random)) }
        }
        return segments
    }

    @Test(.promise("9.15", "9.16", "9.17"), arguments: 0..<60)
    func theTableFindsWhatTryingEveryPatternFinds(_ seed: Int) throws {
        var random = SeededGenerator(seed)
        let isLong = seed % 5 == 4
        var table = URLTable<Int>()
        var rules: [Rule] = []
        for number in 0..<300 {
            change(
                &table, &rules, Self.rule(&random, isLong: isLong, number: number),
                Int.random(in: 0..<8, using: &random))
            #expect(table.count == rules.count)
            try open(table, rules, &random, isLong: isLong)
        }
        for rule in rules { #expect(try table.remove(URLPattern(rule.text), host: rule.host) == rule.number) }
        #expect(table.count == 0)
    }

    /// Adds, replaces or removes a pattern, in the table and in the list.
    private func change(_ table: inout URLTable<Int>, _ rules: inout [Rule], _ rule: Rule, _ choice: Int) {
        let place = rules.firstIndex { $0.isSame(as: rule) }
        let old = place.map { rules[$0].number }
        do {
            let pattern = try URLPattern(rule.text)
            #expect(table.value(of: pattern, host: rule.host) == old)
            switch choice {
            case 0:
                #expect(table.remove(pattern, host: rule.host) == old)
                if let place { rules.remove(at: place) }
                return
            case 1: #expect(try table.replace(pattern, host: rule.host, value: rule.number) == old)
            default: try table.add(pattern, host: rule.host, value: rule.number)
            }
            #expect(choice == 1 || place == nil, "\(rule.text) was added twice")
        } catch {
            #expect(error.code == .nameTaken && place != nil, "\(rule.text): \(error)")
            return
        }
        if let place { rules[place] = rule } else { rules.append(rule) }
    }

    private func open(
        _ table: URLTable<Int>, _ rules: [Rule], _ random: inout SeededGenerator, isLong: Bool
    ) throws {
        for _ in 0..<4 {
            let segments = Self.segments(&random, isLong: isLong, like: rules)
            let host = (Self.hosts + ["z"]).randomElement(using: &random) ?? "h"
            let query = [("n0", "q"), ("m1", "r"), ("z", "1")].filter { _ in Bool.random(using: &random) }
            // A trailing slash behind an empty segment isn't dropped.
            let slash = segments.last.map { $0 != "" } == true && Bool.random(using: &random) ? "/" : ""
            // A single empty segment can't be written: `/` has none, and `//` has two.
            if segments.last == "" { continue }
            let pairs = query.map { "\($0)=\($1)" }.joined(separator: "&")
            let url = "s://\(host)\(segments.map { "/" + $0 }.joined())\(slash)\(query.isEmpty ? "" : "?" + pairs)"
            func best(_ host: String) -> Rule? {
                rules.filter { $0.host.lowercased() == host && $0.matches(segments) }.min { $0.beats($1) }
            }
            let expected = best(host.lowercased()) ?? best("*")
            do {
                let match = try table.resolve(BusURL(url), schemes: ["s"])
                #expect(match.value == expected?.number, "\(url) leads to \(match.pattern.text)")
                let members = expected?.body(segments, query) ?? []
                #expect(match.body() == JSON.object(members).encoded(), "\(url)")
            } catch {
                let isKnown = rules.contains { [host.lowercased(), "*"].contains($0.host.lowercased()) }
                #expect(
                    expected == nil && error.code == (isKnown ? .unknownPath : .unknownHost),
                    "\(url) leads to \(expected?.text ?? "nothing"): \(error)")
            }
        }
    }
}
