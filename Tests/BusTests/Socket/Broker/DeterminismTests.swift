import StrataCore
import StrataTesting
import Testing

@testable import StrataBus

/// The same events give the same bytes. No output depends on the order of a hashed collection,
/// which differs in each process.
@Suite(.timeLimit(.hang))
struct DeterminismTests {
    /// Returns the answers of a broker in its own process, to questions for which it may name a
    /// few of many.
    private func answers() throws -> [String] {
        var table = AppTable.testing([.manual("Ant"), .manual("Bee")])
        table.limits.interfaces = 2_000
        table.limits.urls = 2_000
        return try TestBus.run(table, executable: BuiltExecutable.path("strata-broker")) { bus in
            let names = (0..<1_500).map { "Many\(String($0 + 10_000).dropFirst())" }
            let ant = try bus.module(
                "Ant",
                [
                    "interfaces": .object(names.map { .init($0, [:]) }),
                    "events": .array(names.map { .string("app.\($0)") }),
                    "observes": .array(names.prefix(1_000).map { .string($0) }),
                ])
            let bee = try bus.module("Bee", ["interfaces": ["Bee": [:]]])
            var answers: [String] = []
            for number in 10..<30 {
                answers.append(try ant.answer(to: ant.call("Many00\(number)x/act")).message)
                let url: JSON = .object([
                    .init("host", .string("many00\(number)")), .init("path", "/a"), .init("to", "Bee/act"),
                ])
                try bee.asked("bus/register", ["urls": .array([url])])
            }
            for _ in 0..<3 { answers.append(try ant.answer(to: ant.open("test://many002x/a")).message) }
            answers.append(String(decoding: try bus.operator().asked("bus/names").encoded(), as: UTF8.self))
            return answers
        }
    }

    @Test func twoBrokersAnswerAlike() throws {
        let (one, other) = (try answers(), try answers())
        for (mine, others) in zip(one, other) { #expect(mine == others) }
        #expect(one.count == other.count && one.count == 24)
        // Of the 1,500 names, those next to the wanted one are compared first.
        #expect(one[0].hasSuffix("did you mean Many0010 or Many0000 or Many0001?"), "\(one[0])")
    }
}
