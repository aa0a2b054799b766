import TestSupport
import Testing

@testable import StrataPipe

/// When a broker is told what its link knows.
struct ViewReportsTests {
    private static let start = 100 * PipeTimes.second
    private var views = [
        NodeView(state: NodeState(word: .never, since: 1, why: "no word")),
        NodeView(state: NodeState(word: .up, since: 2, why: ""), roundTrip: 1_000_000),
    ]
    private var reports = ViewReports(count: 2)

    private mutating func take(after time: UInt64) -> [Int] {
        let views = views
        return reports.take(at: Self.start + time) { views[$0] }
    }

    @Test(.promise("N.18")) mutating func eachNodeIsReportedFirst() {
        #expect(take(after: 0) == [0, 1])
        #expect(reports.deadline == nil)
    }

    @Test(.promise("N.18")) mutating func nothingIsSaidWhileNothingChanges() {
        _ = take(after: 0)
        for second in 1...100 as ClosedRange<UInt64> {
            #expect(take(after: second * PipeTimes.second) == [] && reports.deadline == nil)
        }
        views[1].unacknowledged = 1
        #expect(take(after: 101 * PipeTimes.second) == [1])
    }

    @Test(.promise("N.18")) mutating func changesComeOnceASecond() {
        _ = take(after: 0)
        views[0].gaps = 1
        #expect(take(after: PipeTimes.second - 1) == [])
        #expect(reports.deadline == Self.start + PipeTimes.second)
        views[1].state = NodeState(word: .stalled, since: 3, why: "silent")
        #expect(take(after: PipeTimes.second) == [0, 1])
        #expect(reports.deadline == nil)
        // What changes back in time is no change.
        views[0].gaps = 2
        #expect(take(after: PipeTimes.second + 1) == [])
        views[0].gaps = 1
        #expect(take(after: PipeTimes.second + 2) == [] && reports.deadline == nil)
    }

    @Test(.promise("N.18"), arguments: [(1_250_000, false), (750_000, false), (1_250_001, true), (749_999, true)])
    mutating func aRoundTripVaries(_ time: UInt64, _ isNews: Bool) {
        _ = take(after: 0)
        views[1].roundTrip = time
        #expect(take(after: 2 * PipeTimes.second) == (isNews ? [1] : []))
    }
}
