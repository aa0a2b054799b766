import Testing

@testable import StrataBus

@Suite(.timeLimit(.hang))
struct LevelTableTests {
    @Test func aLevelsPlaceIsItsRank() {
        let table = LevelTable(["basic", "middle", "topout"])
        for (rank, name) in ["basic", "middle", "topout"].enumerated() {
            #expect(table.rank(name) == rank)
            #expect(Array(name.utf8).withUnsafeBytes { table.rank($0) } == rank)
        }
        for name in ["", "Basic", "base", "basicc"] {
            #expect(table.rank(name) == nil)
            #expect(Array(name.utf8).withUnsafeBytes { table.rank($0) } == nil)
        }
    }
}
