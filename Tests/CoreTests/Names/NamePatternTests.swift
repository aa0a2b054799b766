import StrataCore
import Testing

struct NamePatternTests {
    @Test(
        .promise("7.21"),
        arguments: [
            ("storage.*", "storage.changed", true), ("storage.*", "storage", false),
            ("storage.*", "storage.a.b", false), ("storage.*", "store.a", false), ("storage.*", "storage.", true),
            ("*.changed", "storage.changed", true), ("*.changed", "changed", false), ("*", "a", true),
            ("*", "a.b", false), ("a.*.c", "a.b.c", true), ("a.*.c", "a.b.d", false), ("storage.>", "storage.a", true),
            ("storage.>", "storage.a.b.c", true), ("storage.>", "storage", false), ("storage.>", "storage.", true),
            (">", "a", true), (">", "a.b.c.d.e.f.g.h.i.j", true), ("*.>", "a", false), ("*.>", "a.b", true),
            ("*.*", "a.b", true), ("a.*", "A.b", false), ("caf\u{E9}.*", "cafe\u{301}.a", false), ("*.", "a.", true),
            ("*.", "a.b", false), ("a.>", "a.>", true), ("a.*", "a.*", true), ("a.b*.*", "a.bc.d", false),
            ("a.b*.*", "a.b*.d", true), ("a.>.*", "a.b.c", false), ("a.>.*", "a.>.c", true),
        ]) func aPatternMatchesBySegments(pattern: String, name: String, matches: Bool)
    {
        #expect(NamePattern.isPattern(pattern))
        #expect(NamePattern.matches(pattern, name) == matches)
    }

    @Test(.promise("7.22"), arguments: ["", ".", "a", "a.b", "a*", "a.b*", "a.>.b", ">.a", "a.>b", "**", ">>", "a.* "])
    func namesWithoutAWildcardSegmentAreNoPatterns(text: String) {
        #expect(!NamePattern.isPattern(text))
        #expect(NamePattern.problem(text)?.contains("neither a segment * nor a last segment >") == true)
    }

    @Test(.promise("7.22")) func aPatternHasAtMostEightSegments() {
        #expect(NamePattern.problem("a.b.c.d.e.f.g.*") == nil)
        #expect(NamePattern.problem("a.b.c.d.e.f.g.h.*")?.contains("has 9 segments: give at most 8") == true)
        #expect(NamePattern.problem("*.*.*.*.*.*.*.*.>")?.contains("has 9 segments") == true)
    }
}
