import StrataCore
import StrataTesting
import Testing

@testable import StrataBus

struct NameTableTests {
    private final class Value {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private static func pattern(_ text: String) -> ObservedName {
        ObservedName(text: Array(text.utf8), isPattern: true)
    }

    private static func table(_ patterns: some Sequence<String>) -> NameTable<Value> {
        var table = NameTable<Value>()
        for text in patterns { table.set(pattern(text), Value(text)) }
        return table
    }

    private static func found(_ table: borrowing NameTable<Value>, _ name: String) -> (texts: [String], visited: Int) {
        var texts: [String] = []
        var name = name
        let visited = name.withUTF8 { name in
            table.forEachPattern(of: UnsafeRawBufferPointer(name)) { texts.append($0.text) }
        }
        return (texts, visited)
    }

    /// Random patterns and names of few segments, beside `NamePattern.matches`, which looks at one pattern alone.
    @Test(.promise("7.21"), arguments: 0..<20) func itFindsThePatternsThatMatch(seed: Int) {
        var numbers = SeededGenerator(seed)
        func text(_ segments: [String]) -> String {
            (0...numbers.below(4)).map { _ in segments[numbers.below(segments.count)] }.joined(separator: ".")
        }
        var patterns: Set<String> = []
        var table = NameTable<Value>()
        for _ in 0..<400 {
            let new = text(["a", "b", "", "*", ">"])
            if NamePattern.isPattern(new) {
                patterns.insert(new)
                table.set(Self.pattern(new), Value(new))
            }
            if numbers.chance(1, in: 3), let old = patterns.sorted().randomElement(using: &numbers) {
                patterns.remove(old)
                table.remove(Self.pattern(old))
            }
            let name = text(["a", "b", "", "*", ">", "c"])
            #expect(
                Self.found(table, name).texts.sorted() == patterns.filter { NamePattern.matches($0, name) }.sorted(),
                "\(name) among \(patterns.sorted())")
            #expect(table.count == patterns.count && table.hasPatterns == !patterns.isEmpty)
        }
        for pattern in patterns { table.remove(Self.pattern(pattern)) }
        #expect(Self.found(table, "a.b").visited == 0)
    }

    @Test(.promise("7.21")) func aNameAndAPatternOfTheSameTextAreTwo() {
        var table = Self.table(["a.*"])
        table.set(ObservedName(text: Array("a.*".utf8)), Value("the name"))
        #expect(Array("a.*".utf8).withUnsafeBytes { table.find($0) }?.text == "the name")
        #expect(Self.found(table, "a.*").texts == ["a.*"])
        table.remove(ObservedName(text: Array("a.*".utf8)))
        #expect(Self.found(table, "a.b").texts == ["a.*"])
    }

    @Test(.promise("7.24")) func theSearchIsBounded() {
        // All patterns of eight segments that a name can go both ways through.
        let all = (0..<256).map { bits in
            (0..<8).map { bits >> $0 & 1 == 0 ? "a" : "*" }.joined(separator: ".")
        }.filter(NamePattern.isPattern)
        let found = Self.found(Self.table(all), "a.a.a.a.a.a.a.a")
        #expect(found.texts.count == 255 && found.visited <= 511)
        #expect(Self.found(Self.table(all), Array(repeating: "a", count: 128).joined(separator: ".")).visited <= 511)
        // However many patterns there are, a name that none of them begins like looks at the first place alone.
        let others = Self.table((0..<10_000).map { "p\($0).*" })
        #expect(Self.found(others, "news.a").visited == 1)
        #expect(Self.found(others, "p77.a").visited == 3)
    }
}
