import StrataCore
import StrataTesting
import TestSupport
import Testing

@Suite struct NamesTests {
    static let longest = String(repeating: "x", count: 64)

    @Test(arguments: ["T", "Test", "a.b_c-d9", "bus", "Router", longest])
    func modulesAndInterfacesMayBeCalled(_ name: String) {
        #expect(Name.isModule(name))
        #expect(Name.isInterface(name))
        #expect(Name.isAction(name))
    }

    @Test(
        .promise("3.11"),
        arguments: [
            "", "9a", ".a", "-a", "a b", "a/b", "a#1", "a:b", "é", "aé", "a\0", "@", "[", "`", "{a", longest + "x",
        ])
    func noModuleInterfaceOrActionIsCalled(_ name: String) {
        #expect(!Name.isModule(name))
        #expect(!Name.isInterface(name))
        #expect(!Name.isAction(name))
    }

    @Test(.promise("3.11")) func onlyAnActionMayBeginWithAnUnderscore() {
        #expect(Name.isAction("_a") && Name.isAction("_"))
        #expect(!Name.isModule("_a") && !Name.isInterface("_a"))
    }

    @Test(.promise("3.11"), arguments: 0...255)
    func everyByteIsJudgedAsTheExpressionSays(_ value: Int) {
        let byte = UInt8(value)
        let letter = (65...90).contains(value) || (97...122).contains(value)
        let rest = letter || (48...57).contains(value) || [45, 46, 95].contains(value)
        [byte].withUnsafeBytes {
            #expect(Name.isModule($0) == letter)
            #expect(Name.isAction($0) == (letter || value == 95))
        }
        [UInt8(ascii: "a"), byte].withUnsafeBytes {
            #expect(Name.isModule($0) == rest)
            #expect(Name.isAction($0) == rest)
        }
    }

    @Test(.promise("3.11")) func fourNamesAreReservedInThisCaseOnly() {
        for name in ["bus", "module", "launcher", "operator"] { #expect(Name.isReserved(name)) }
        for name in ["", "Bus", "buses", "modules", "Launcher", "bu", "operatoR"] {
            #expect(!Name.isReserved(name))
        }
    }

    @Test(
        .promise("3.12"),
        arguments: [
            ("TestRouter", "Test"), ("Testrouter", "Test"), ("TestROUTER", "Test"), ("TestrOuTeR", "Test"),
            ("Test", "Test"), ("Router", "Router"), ("router", "router"), ("RouterRouter", "Router"),
            ("TestRouterRouter", "TestRouter"), ("TestRouters", "TestRouters"), ("aRouter", "a"),
            ("TestRouteR.", "TestRouteR."), ("", ""), ("outer", "outer"), ("busRouter", "bus"),
            ("Test2outer", "Test2outer"), ("TestRoute\u{12}", "TestRoute\u{12}"), ("éRouter", "é"),
        ])
    func oneRouterSuffixIsTakenOffUnlessNothingIsLeft(_ name: String, _ left: String) {
        #expect(Name.withoutRouterSuffix(name) == left)
        var name = name
        name.withUTF8 {
            let bytes = Name.withoutRouterSuffix(UnsafeRawBufferPointer($0))
            #expect(Array(bytes) == Array(left.utf8))
        }
    }

    @Test(
        .promise("3.13"),
        arguments: [
            ("1", 1), ("12", 12), ("9007199254740991", 9_007_199_254_740_991), ("9007199254740992", nil),
            ("", nil), ("0", nil), ("012", nil), ("1a", nil), ("-1", nil), ("99999999999999999999", nil),
        ] as [(String, UInt64?)])
    func instancesHaveOneSpelling(_ digits: String, _ number: UInt64?) {
        var digits = digits
        digits.withUTF8 { #expect(Name.instanceNumber(UnsafeRawBufferPointer($0)) == number) }
    }

    @Test(
        arguments: [
            ("Test/action1", "Test", nil, "action1"),
            ("TestRouter/action1", "Test", nil, "action1"),
            ("Cart#12/add", "Cart", "12", "add"),
            ("CartROUTER#12/_add", "Cart", "12", "_add"),
            ("Router/x", "Router", nil, "x"),
            ("bus/hello", "bus", nil, "hello"),
            ("A/actionRouter", "A", nil, "actionRouter"),
            (longest + "Router#0001/" + longest, longest, "0001", longest),
        ] as [(String, String, String?, String)])
    func destinationsAreSplit(_ to: String, _ interface: String, _ instance: String?, _ action: String) throws {
        let parsed = try #require(Destination(to))
        let bytes = Array(to.utf8)
        #expect(String(decoding: bytes[parsed.interface], as: UTF8.self) == interface)
        #expect(parsed.instance.map { String(decoding: bytes[$0], as: UTF8.self) } == instance)
        #expect(String(decoding: bytes[parsed.action], as: UTF8.self) == action)
    }

    @Test(arguments: [
        "", "/", "Test", "Test/", "/a", "Test/a/b", "Test#/a", "Test#1", "Test#1a/a", "Test#1#2/a", "#1/a",
        "Test/a#1", "Test /a", "9/a", "Test/9", "_t/a", longest + "x/a", "A/" + longest + "x",
        longest + "RouterRouter/a", "Test#-1/a", "Test#é/a",
    ])
    func malformedDestinationsAreNone(_ to: String) {
        #expect(Destination(to) == nil)
    }

    @Test(
        arguments: [
            ("Lgoin", ["Login"]), ("login", ["Login"]), ("Logn", ["Login"]), ("Cart", []), ("", []),
            ("Item", ["Itema", "Itemb", "Itemc"]), ("Alertt", ["Alert"]), ("Settings", []),
            (String(repeating: "Login", count: 5_000), []),
        ] as [(String, [String])])
    func namesNearAMistakeAreSuggested(_ name: String, _ near: [String]) {
        #expect(nearestNames(to: name, in: ["Itemd", "Itemc", "Login", "Itemb", "Alert", "Itema", "Login"]) == near)
    }

    /// Computes the distance by its definition, without regard to speed.
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var rows = Array(repeating: Array(0...other.count), count: one.count + 1)
        for i in 0...one.count { rows[i][0] = i }
        for i in one.indices {
            for j in other.indices {
                var best = min(rows[i][j] + (one[i] == other[j] ? 0 : 1), rows[i][j + 1] + 1, rows[i + 1][j] + 1)
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                rows[i + 1][j + 1] = best
            }
        }
        return rows[one.count][other.count]
    }

    @Test(.promise("13.33"), arguments: 0..<20)
    func namesAreNearAsTheirDistanceSays(_ seed: Int) {
        var random = SeededGenerator(seed)
        func name(_ count: Int) -> String {
            String((0..<count).map { _ in "abc".randomElement(using: &random) ?? "a" })
        }
        for _ in 0..<200 {
            let wanted = name(Int.random(in: 1...14, using: &random))
            let known = Set((0..<20).map { _ in name(Int.random(in: 1...14, using: &random)) })
            let farthest = min(3, max(1, wanted.utf8.count / 3))
            let near = known.map { (Self.distance(Array(wanted.utf8), Array($0.utf8)), $0) }
                .filter { $0.0 <= farthest }.sorted { $0 < $1 }.prefix(3).map(\.1)
            #expect(nearestNames(to: wanted, in: known) == near, "\(wanted) among \(known)")
        }
    }

    /// Names that are as similar to each other as possible without being near.
    @Test(.promise("13.33"), arguments: [16, 64, 255])
    func aHintCostsTheSameHoweverManyLongNamesThereAre(_ length: Int) {
        let known = (0..<4_096).lazy.map { String(repeating: "x", count: length - 8) + "\(10_000_000 + $0)" }
        var comparison = NameComparison(String(repeating: "x", count: length - 8) + "abcdefgh")
        for name in known where !comparison.look(at: name) { break }
        #expect(comparison.nearest == [])
        #expect(comparison.cells <= NameComparison.mostCells + 7 * length, "\(comparison.cells)")
        // A very different name costs little: 512 of them are compared.
        var other = NameComparison(String(repeating: "y", count: length - 1) + "Z")
        for name in known.prefix(512) where !other.look(at: name) { Issue.record("\(other.cells)") }
        _ = other.look(at: String(repeating: "y", count: length))
        #expect(other.nearest.count == 1, "\(other.cells)")
    }
}
