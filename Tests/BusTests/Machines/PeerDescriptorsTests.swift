import StrataCore
import Testing

@testable import StrataBus

/// How many descriptors a peer may have in the broker.
@Suite struct PeerDescriptorsTests {
    /// The most of all senders.
    private static let most = 400

    /// Closes nothing, as if every closing blocked.
    private final class StuckCloser: DescriptorCloser {
        private var counts: [UInt32: Int] = [:]
        var pending: Int { counts.values.reduce(0, +) }
        func pending(of user: UInt32) -> Int { counts[user] ?? 0 }
        func close(_ numbers: [Int32], of user: UInt32) { counts[user, default: 0] += numbers.count }
    }

    private let all = DescriptorCount()

    init() { all.closer = StuckCloser() }

    private func peer(_ number: UInt64, user: UInt32) -> PeerDescriptors {
        PeerDescriptors(.descriptors, of: number, user: user, in: all)
    }

    /// Lets ten descriptors of a frame come, which is handled at once.
    /// - Returns: whether they were taken.
    private func handled(by peer: PeerDescriptors) -> Bool {
        // No process has such descriptors, so nothing is closed by mistake.
        peer.receive((0..<10).map { 1 << 30 + $0 }, isWhole: true, mostOfAll: Self.most)
        return peer.takeFirst()?.refusal == nil
    }

    @Test(.promise("6.68")) func whatOfAUserWaitsToBeClosedIsAQuarterAndThenItIsEnded() {
        let hostile = [peer(1, user: 1), peer(2, user: 1)]
        for number in 0..<10 { #expect(handled(by: hostile[number % 2])) }
        #expect(!handled(by: hostile[0]) && !hostile[0].isOverrun)
        #expect(!handled(by: hostile[1]) && hostile[1].isOverrun)
        // A connection more is no way out.
        #expect(!handled(by: peer(3, user: 1)))
        let other = peer(4, user: 2)
        #expect(handled(by: other) && !other.isOverrun)
    }

    @Test(.promise("6.68")) func whoComesWhenAllAreThereIsRefusedAndStays() {
        for number in 1...4 { for _ in 0..<10 { #expect(handled(by: peer(UInt64(number), user: UInt32(number)))) } }
        #expect(all.count == Self.most)
        let late = peer(5, user: 5)
        #expect(!handled(by: late) && !handled(by: late) && !late.isOverrun)
    }
}
