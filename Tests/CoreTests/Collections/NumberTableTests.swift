import Testing

@testable import StrataCore

@Suite(.timeLimit(.hang))
struct NumberTableTests {
    private final class Thing {}

    @Test func itHoldsWhatADictionaryWould() {
        var generator = SystemRandomNumberGenerator()
        var table = NumberTable<Thing>()
        var expected: [UInt64: Thing] = [:]
        for step in 0..<20_000 {
            // Few numbers, so that many come again; some share their place.
            let number =
                UInt64.random(in: 0..<200, using: &generator) << UInt64.random(in: 0...1, using: &generator) * 32
            let thing = step % 5 < 2 ? nil : Thing()
            switch (thing, expected[number]) {
            case (nil, let old) where step % 3 == 0: #expect(table.take(number) === old)
            case (nil, _) where step % 3 == 1: table.remove(number)
            case (let thing?, nil): table.add(thing, number)
            default: table[number] = thing
            }
            expected[number] = thing
            #expect(table.count == expected.count)
            #expect(table[number] === thing)
        }
        for (number, thing) in expected { #expect(table[number] === thing) }
        #expect(
            table.values.map(ObjectIdentifier.init)
                == expected.sorted { $0.key < $1.key }.map { ObjectIdentifier($0.value) })
        table.removeAll()
        #expect(table.count == 0 && table.values.isEmpty)
    }
}
