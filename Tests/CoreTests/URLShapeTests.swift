import StrataCore
import StrataTesting
import Testing
import TestSupport

/// The cost of a URL: one look-up for each shape, whatever the patterns are.
@Suite struct URLShapeTests {
    /// Returns the pattern of a shape: `:b3` for a bound segment, else a literal.
    private static func pattern(_ shape: [Bool], _ literal: (Int) -> String = { _ in "a" }) -> String {
        shape.isEmpty ? "/" : shape.enumerated().map { $1 ? "/" + literal($0) : "/:b\($0)" }.joined()
    }

    private static func resolve(_ url: String, in table: URLTable<Int>) -> Int? {
        (try? table.resolve(BusURL(url), schemes: ["m"]))?.value
    }

    /// Compares with the rule as written. Of the matching patterns, the one with a literal wins,
    /// where the other ones have a bound segment, leftmost first.
    @Test(.promise("9.6"), arguments: 0..<40)
    func aMatchIsTheOneOfTheRule(_ seed: Int) throws {
        var random = SeededGenerator(seed)
        let letters = ["a", "b", "%2F", "A"]
        let length = [1, 2, 3, 5, 9, 63, 64].randomElement(using: &random) ?? 1
        var table = URLTable<Int>()
        var patterns: [[String?]] = []
        /// Whether the first beats the second.
        func beats(_ one: [String?], _ other: [String?]) -> Bool {
            for (one, other) in zip(one, other) where (one == nil) != (other == nil) { return one != nil }
            return false
        }
        for _ in 0..<120 {
            // With few bound segments, patterns share long beginnings. With many, they match
            // much.
            let part = Int.random(in: 1...9, using: &random)
            let pattern = (0..<length).map { _ in
                Int.random(in: 0..<10, using: &random) < part ? letters.randomElement(using: &random) : nil
            }
            let text = pattern.enumerated().map { "/" + ($1 ?? ":b\($0)") }.joined()
            let isNew = !patterns.contains(pattern)
            let wasAdded = (try? table.add(URLPattern(text), host: "h", value: patterns.count)) != nil
            try #require(isNew == wasAdded, "\(text)")
            if isNew { patterns.append(pattern) }
        }
        var taken = Set(patterns.indices)
        for round in 0..<160 {
            // Half of the paths are made from a pattern, so that they match.
            let model = patterns.randomElement(using: &random) ?? []
            let path = (0..<length).map { place in
                (round % 2 == 0 ? model[place] : nil) ?? letters.randomElement(using: &random) ?? "a"
            }
            let best = patterns.indices.filter { index in
                taken.contains(index) && zip(patterns[index], path).allSatisfy { $0 == nil || $0 == $1 }
            }.min { beats(patterns[$0], patterns[$1]) }
            let url = "m://h" + path.map { "/" + $0 }.joined()
            #expect(Self.resolve(url, in: table) == best, "\(url)")
            guard round % 4 == 0, let gone = taken.randomElement(using: &random) else { continue }
            let text = patterns[gone].enumerated().map { "/" + ($1 ?? ":other\($0)") }.joined()
            #expect(try table.remove(URLPattern(text), host: "h") == gone)
            taken.remove(gone)
        }
        #expect(table.count == taken.count)
    }

    /// A URL that fails at its last segment, beside as many patterns as there can be.
    @Test(.promise("9.6")) func aURLTakesOneLookUpForEachShape() throws {
        var random = SeededGenerator(1)
        var shapes: Set<[Bool]> = []
        while shapes.count < URLShape.most {
            shapes.insert((0..<63).map { _ in Bool.random(using: &random) } + [true])
        }
        var table = URLTable<Int>()
        for shape in shapes {
            for last in ["x", "y", "z", "w"] {
                let text = Self.pattern(shape) { $0 == 63 ? last : "a" }
                try table.add(URLPattern(text), host: "h", value: table.count)
            }
        }
        #expect(table.count == 4 * URLShape.most)
        let start = "m://h" + String(repeating: "/a", count: 63)
        #expect(try table.lookUps(BusURL(start + "/none")) == URLShape.most)
        #expect(Self.resolve(start + "/none", in: table) == nil)
        #expect(try table.lookUps(BusURL(start + "/x")) == 1)
        // They don't matter to a URL of another length or host, or to one without any match.
        #expect(try table.lookUps(BusURL(start)) == 0)
        #expect(try table.lookUps(BusURL(start + "//none")) == 0)
        #expect(try table.lookUps(BusURL("m://other/a")) == 0)
    }

    @Test(.promise("9.7")) func oneShapeMoreIsRefusedAndPatternsOfTheSameAreTaken() throws {
        func pattern(_ number: Int, _ last: String) throws -> URLPattern {
            try URLPattern(Self.pattern((0..<9).map { number & 1 << $0 != 0 } + [true]) { $0 == 9 ? last : "a" })
        }
        var table = URLTable<Int>()
        for number in 0..<URLShape.most { try table.add(pattern(number, "x"), host: "H", value: number) }
        let more = try pattern(URLShape.most, "x")
        let error = #expect(throws: BusURLError.self) { try table.add(more, host: "h", value: 0) }
        #expect(error?.code == .overloaded && error?.message.contains("256 ways") == true, "\(error?.message ?? "")")
        #expect(table.count == URLShape.most)
        try table.add(pattern(7, "y"), host: "h", value: 0)
        try table.add(more, host: "other", value: 0)
        // Each length has the same limit.
        try table.add(URLPattern("/:a/b/:c"), host: "h", value: 0)
        // A row's patterns are accepted, and a removed one makes room for another.
        try table.replace(more, host: "h", value: 1)
        #expect(Self.resolve("m://h" + String(repeating: "/a", count: 9) + "/x", in: table) != nil)
        table.remove(more, host: "h")
        for last in ["x", "y"] { try table.remove(pattern(7, last), host: "h") }
        try table.add(more, host: "h", value: 1)
    }

    /// So patterns with up to 8 segments have no limit.
    @Test(.promise("9.7")) func allShapesOfEightSegmentsHaveRoom() throws {
        var table = URLTable<Int>()
        for length in 0...8 {
            for number in 0..<(1 << length) {
                let shape = (0..<length).map { number & 1 << $0 != 0 }
                try table.add(URLPattern(Self.pattern(shape)), host: "h", value: number)
            }
        }
        #expect(table.count == 511)
    }

    @Test(.promise("9.7")) func patternsThatComeTogetherAreCountedTogether() throws {
        var table = URLTable<Int>()
        func pattern(_ number: Int) throws -> (host: String, pattern: URLPattern) {
            ("h", try URLPattern(Self.pattern((0..<9).map { number & 1 << $0 != 0 })))
        }
        for number in 0..<200 { try table.add(pattern(number).pattern, host: "h", value: number) }
        let all = try (0..<URLShape.most).map(pattern)
        #expect(table.firstBeyondLimit(of: all) == nil)
        #expect(table.firstBeyondLimit(of: all + all) == nil)
        #expect(
            try table.firstBeyondLimit(of: all + [pattern(256), pattern(257)])?.pattern.form
                == pattern(256).pattern.form)
        #expect(try table.firstBeyondLimit(of: all + [("other", pattern(256).pattern)]) == nil)
    }
}
