import StrataTesting
import Testing
import TestSupport

@testable import StrataCore

@Suite(.timeLimit(.hang))
struct HistogramTests {
    @Test(arguments: 0..<10)
    func percentilesAreRightWithinSevenPercent(seed: Int) {
        var generator = SeededGenerator(seed)
        var histogram = Histogram()
        var values: [UInt64] = []
        for _ in 0..<2_000 {
            let value = UInt64.random(in: 0...(1 << UInt64.random(in: 0...40, using: &generator)), using: &generator)
            histogram.record(value)
            values.append(value)
        }
        values.sort()
        for share in [0.01, 0.5, 0.9, 0.99, 1] {
            let exact = values[Int((share * 2_000).rounded(.up)) - 1]
            let found = histogram.percentile(share)
            #expect(found >= exact && Double(found) <= Double(exact) * 1.07 + 1, "\(share): \(found) for \(exact)")
        }
        #expect(histogram.largest == values.last)
        #expect(histogram.count == 2_000)
    }

    @Test func anEmptyOneIsZeroAndTheLargestValueFits() {
        var histogram = Histogram()
        #expect(histogram.percentile(0.5) == 0)
        histogram.record(.max)
        #expect(histogram.percentile(0.5) == .max)
    }
}
