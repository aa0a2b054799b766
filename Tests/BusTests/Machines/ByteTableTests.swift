import StrataTesting
import Testing
import TestSupport

@testable import StrataBus

@Suite(.timeLimit(.hang))
struct ByteTableTests {
    private final class Value {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    @Test(arguments: 0..<20)
    func itDoesWhatADictionaryWould(seed: Int) {
        var generator = SeededGenerator(seed)
        var table = ByteTable<Value>()
        var model: [String: Int] = [:]
        let letters = Array("abcdefgh/#é")
        for step in 0..<3_000 {
            let count = Int.random(in: 0...(seed % 2 == 0 ? 3 : 20), using: &generator)
            let key = String((0..<count).map { _ in letters.randomElement(using: &generator) ?? "a" })
            if Int.random(in: 0..<10, using: &generator) < (step % 1_000 < 600 ? 7 : 3) {
                table.set(key, Value(step))
                model[key] = step
            } else {
                table.remove(key)
                model[key] = nil
            }
            #expect(table.find(key)?.number == model[key])
            #expect(table.count == model.count)
        }
        for (key, number) in model { #expect(table.find(key)?.number == number) }
        var numbers: [Int] = []
        table.forEach { numbers.append($0.number) }
        #expect(numbers.sorted() == model.values.sorted())
        table.removeAll()
        #expect(table.count == 0)
        for key in model.keys { #expect(table.find(key) == nil) }
    }

    @Test func removedValuesAreReleased() {
        weak var replaced: Value?
        weak var removed: Value?
        weak var left: Value?
        do {
            var table = ByteTable<Value>()
            let values = (0..<3).map(Value.init)
            (replaced, removed, left) = (values[0], values[1], values[2])
            table.set("a", values[0])
            table.set("a", values[1])
            table.remove("a")
            table.set("b", values[2])
            #expect(table.find("b") === left)
        }
        #expect(replaced == nil && removed == nil && left == nil)
    }
}
