import StrataCore
import StrataTesting
import Testing

@testable import StrataBus

/// What two nodes tell each other, as values.
@Suite(.timeLimit(.hang))
struct NodeFrameTests {
    private func read(_ bodies: [[UInt8]]) throws -> [NodeFrame] {
        try bodies.map { body in try body.withBytes { bytes throws(BusError) in try NodeFrame(bytes) } }
    }

    @Test func factsAndNewsAreReadAsTheyWereWritten() throws {
        let facts = NodeFacts(.twoNodes())
        let news = NodeNews(ready: ["Storage"], observed: [ObservedName(text: Array("saved".utf8)): 2])
        let frames = try read(NodeFrame.bodies(facts, news, of: "berlin"))
        let frame = try #require(frames.first)
        #expect(frames.count == 1 && !frame.more)
        #expect(frame.node == "berlin" && frame.version == 1)
        #expect(frame.rows == facts.rows)
        #expect(frame.facts?.levels == facts.levels && frame.facts?.frame == facts.frame)
        #expect(frame.ready == ["Storage"])
        #expect(frame.observes.map(\.0.text) == [Array("saved".utf8)] && frame.observes.map(\.rank) == [2])
    }

    @Test func aLargeTableComesInFramesOfBoundedSize() throws {
        let table = AppTable.twoNodes {
            for number in 0..<2_000 {
                $0.modules.append(
                    .manual("Module\(number)", provides: ["Interface\(number)"]) { $0.placement = .on(["tokyo"]) })
            }
        }
        let facts = NodeFacts(table)
        let bodies = NodeFrame.bodies(facts, NodeNews(), of: "berlin")
        #expect(bodies.count > 2)
        #expect(bodies.allSatisfy { $0.count < 128 << 10 })
        let frames = try read(bodies)
        #expect(frames.dropLast().allSatisfy(\.more) && frames.last?.more == false)
        #expect(frames.map(\.rows.count).reduce(0, +) == facts.rows.count)
    }

    @Test func changesNameOnlyWhatChanged() throws {
        func name(_ text: String) -> ObservedName { ObservedName(text: Array(text.utf8)) }
        func pattern(_ text: String) -> ObservedName { ObservedName(text: Array(text.utf8), isPattern: true) }
        let old = NodeNews(
            ready: ["A", "B"], observed: [name("x"): 1, name("y"): 1, pattern("y"): 1, pattern("a.*"): 1])
        let new = NodeNews(
            ready: ["B", "C"], observed: [name("x"): 2, name("z"): 0, pattern("a.*"): 2, name("a.*"): 0])
        let frame = try #require(try read(NodeFrame.bodies(from: old, to: new)).first)
        #expect(frame.ready == ["C"] && frame.unready == ["A"])
        #expect(frame.observes.map(\.0) == [name("a.*"), name("x"), name("z"), pattern("a.*")])
        #expect(frame.observes.map(\.rank) == [0, 2, 0, 2])
        #expect(frame.unobserves == [name("y"), pattern("y")])
        #expect(frame.facts == nil)
    }

    @Test(.promise("N.33")) func newsComeWithTheirNumber() throws {
        func numbers(_ names: Int) throws -> [UInt64?] {
            let long = String(repeating: "a", count: 40_000)
            let new = NodeNews(
                ready: [],
                observed: Dictionary(
                    uniqueKeysWithValues: (0..<names).map { (ObservedName(text: Array("\($0).\(long)".utf8)), 0) }))
            let old = NodeNews(ready: [], observed: [:])
            return try read(NodeFrame.bodies(from: old, to: new, subscription: 7)).map(\.subscription)
        }
        #expect(try numbers(1) == [7])
        #expect(try numbers(3) == [nil, nil, 7])
    }

    @Test(.promise("N.10")) func rowsAreComparedByWhatRoutesMessages() {
        let own = NodeFacts(.twoNodes())
        func difference(_ change: (inout AppTable) -> Void) -> String? {
            own.rows["Index"]?.difference(from: NodeFacts(.twoNodes(change)).rows["Index"])
        }
        #expect(difference { _ in } == nil)
        #expect(difference { $0.modules[3].requires = [RequiredInterface("Storage")] } == nil)
        #expect(difference { $0.modules[3].rank = 0 } == "level is middle here and basic there")
        #expect(difference { $0.modules[3].placement = .everywhere } == "node is tokyo here and all there")
        #expect(difference { $0.modules[3].provides = [] } == "provides is Index here and empty there")
        #expect(difference { $0.modules[3].urls = [] }?.hasPrefix("urls is index/show/:number") == true)
        #expect(difference { $0.modules.remove(at: 3) } == "there is no such row there")
    }
}
