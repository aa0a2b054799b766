import StrataTesting
import Testing
import TestSupport

@testable import StrataBus

@Suite(.timeLimit(.hang))
struct CallTableTests {
    @Test(.promise("3.8"), arguments: 0..<10)
    func numbersNeverComeTwiceAndFindTheirCallWhileItIsOpen(seed: Int) throws {
        var generator = SeededGenerator(seed)
        var table = CallTable(now: 0)
        var open: [UInt64: CallPointer] = [:]
        var seen: Set<UInt64> = []
        for _ in 0..<5_000 {
            if Int.random(in: 0..<100, using: &generator) < 55 {
                let call = try table.opened()
                #expect(call.pointee.state == .inside)
                #expect((1..<1 << 53).contains(call.pointee.id))
                #expect(seen.insert(call.pointee.id).inserted)
                open[call.pointee.id] = call
            } else if let (id, call) = open.randomElement(using: &generator) {
                #expect(table.find(id) == call)
                table.close(call)
                open[id] = nil
                #expect(table.find(id) == nil)
            }
            #expect(table.count == open.count)
        }
        for (id, call) in open { #expect(table.find(id) == call) }
        for id in seen where open[id] == nil { #expect(table.find(id) == nil) }
    }

    @Test func aSlotWhoseNumbersAreUsedUpIsNotUsedAgain() throws {
        var table = CallTable(now: 0)
        let call = try table.opened()
        call.pointee.generation = Call.lastGeneration - 1
        table.close(call)
        let last = try table.opened()
        #expect(last == call && last.pointee.generation == Call.lastGeneration)
        #expect(last.pointee.id < 1 << 53)
        table.close(last)
        let next = try table.opened()
        #expect(next != call)
    }

    @Test(arguments: [0, 1, 5, 2 << 22, (1 << 53) - 1, .max] as [UInt64])
    func numbersThatWereNeverGivenFindNothing(id: UInt64) throws {
        var table = CallTable(now: 0)
        #expect(table.find(id) == nil)
        _ = try table.opened()
        #expect(table.find(id) == nil)
    }
}
