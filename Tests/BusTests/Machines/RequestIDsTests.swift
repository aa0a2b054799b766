import Testing
import TestSupport

@testable import StrataBus

@Suite(.timeLimit(.hang))
struct RequestIDsTests {
    /// Against a dictionary. Numbers are drawn from few, so that they meet.
    @Test(arguments: 0..<40)
    func theyDoWhatADictionaryWould(seed: Int) throws {
        var generator = SeededGenerator(seed)
        var calls = CallTable(now: 0)
        var ids = RequestIDs()
        var model: [UInt64: CallPointer] = [:]
        let most = [20, 1_000, 9_007_199_254_740_991][seed % 3] as UInt64
        for step in 0..<3_000 {
            let id = UInt64.random(in: 1...most, using: &generator)
            #expect(ids.find(id) == model[id])
            let grows = step % 1_000 < 600
            if model[id] == nil, grows || Bool.random(using: &generator) {
                let call = try calls.opened()
                ids.insert(id, call)
                model[id] = call
            } else {
                let removed = model[id] == nil ? model.keys.randomElement(using: &generator) ?? id : id
                ids.remove(removed)
                if let call = model.removeValue(forKey: removed) { calls.close(call) }
            }
            #expect(ids.count == model.count)
        }
        for (id, call) in model { #expect(ids.find(id) == call) }
    }

    @Test func whatWasNeverInsertedIsRemovedWithoutHarm() throws {
        var calls = CallTable(now: 0)
        var ids = RequestIDs()
        ids.remove(1)
        #expect(ids.find(1) == nil)
        let call = try calls.opened()
        ids.insert(1, call)
        ids.remove(2)
        #expect(ids.find(1) == call && ids.count == 1)
    }
}
