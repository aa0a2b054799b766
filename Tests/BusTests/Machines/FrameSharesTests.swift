import StrataCore
import Testing

@testable import StrataBus

/// How a monitor's `most` frames a second are shared among edges.
struct FrameSharesTests {
    private func shows(
        _ shares: FrameShares, _ name: String, code: String? = nil, from: String = "Ant", now: UInt64
    ) -> Bool {
        Array(from.utf8).withUnsafeBytes { from in
            Array(name.utf8).withUnsafeBytes { name in
                Array((code ?? "").utf8).withUnsafeBytes { codeBytes in
                    shares.shows(
                        MonitoredFrame(
                            kind: .broadcast, from: from, to: .none, name: name,
                            code: code == nil ? nil : codeBytes, body: .none),
                        now: now)
                }
            }
        }
    }

    @Test(.promise("N.50"), arguments: [1, 2, 7, 8, 9, 64, 200]) func aBusyEdgeHasItsShareAndARareOneItsPlace(
        _ most: Int
    ) {
        let shares = FrameShares(most: most)
        let reserve = most / 8
        for second in 0..<3 as Range<UInt64> {
            let now = 5_000 + second * 1_000
            var shown = 0
            // Busy edges take all that they may.
            for _ in 0..<most * 2 { for edge in 0..<20 where shows(shares, "busy\(edge)", now: now) { shown += 1 } }
            #expect(shown <= most - reserve || most < 20)
            #expect(shown <= 20 * max(1, most / 8))
            // So many that weren't shown have their place.
            if most >= 64 {
                for edge in 0..<reserve { #expect(shows(shares, "rare\(edge)", now: now + 999)) }
            }
        }
    }

    @Test(.promise("N.50")) func neverMoreThanTheMostAndNoErrorIsLeftOutWhileThereIsRoom() {
        let shares = FrameShares(most: 40)
        var random = SystemRandomNumberGenerator()
        var (sent, shown, left) = (0, 0, UInt64(0))
        for second in 1...20 as ClosedRange<UInt64> {
            var inSecond = 0
            for _ in 0..<300 {
                let isError = Int.random(in: 0..<20, using: &random) == 0
                let name = "e\(Int.random(in: 0..<60, using: &random))"
                sent += 1
                let isShown = shows(shares, name, code: isError ? "failed" : nil, now: second * 1_000)
                if isError, !isShown { #expect(inSecond == 40) }
                guard isShown else { continue }
                inSecond += 1
                left += shares.takeLeft()
            }
            shown += inSecond
            #expect(inSecond <= 40)
            if second % 5 == 0 { left += shares.takeLeft(most: 7).reduce(0) { $0 + $1.count } }
        }
        #expect(UInt64(sent) == UInt64(shown) + left + shares.left)
    }

    @Test(.promise("N.51")) func countsAreToldOncePerEdgeInTheirOrder() {
        let shares = FrameShares(most: 8)
        for _ in 0..<5 { for name in ["b", "a"] { _ = shows(shares, name, now: 1_000) } }
        let told = shares.takeLeft(most: 10)
        #expect(
            told.map { JSON.object($0.edge.described) }
                == ["b", "a"].map {
                    ["from": "Ant", "to": "", "kind": "broadcast", "name": .string($0)]
                })
        #expect(told.map(\.count) == [4, 4] && !shares.hasLeft && shares.takeLeft(most: 10).isEmpty)
        shares.giveBack(4, to: told[1].edge)
        #expect(shares.takeLeft(most: 10).map(\.count) == [4])
    }

    @Test(.promise("N.51")) func edgesThatAreNotToldApartCountAsOne() {
        let shares = FrameShares(most: 100_000)
        for edge in 0..<FrameShares.mostEdges { #expect(shows(shares, "\(edge)", now: 1_000)) }
        // All of these are one edge, with one share.
        let shown = (0..<20_000).count { shows(shares, "new\($0)", now: 1_000) }
        #expect(shown == 12_500)
        let told = shares.takeLeft(most: .max)
        #expect(told.map(\.count) == [7_500])
        #expect(told.map { JSON.object($0.edge.described) } == [["from": "", "to": "", "kind": "others", "name": ""]])
        // Quiet edges give way in the next second.
        #expect(shows(shares, "another", now: 2_000))
        #expect((0..<20_000).count { _ in shows(shares, "another", now: 2_000) } == 12_499)
        #expect(shares.takeLeft(most: .max).map { $0.edge.kind } == [.broadcast])
    }
}
