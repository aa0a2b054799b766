import Testing

@testable import StrataPipe

/// Carriers that are slow, or far away. Nothing is lost there, so hardly anything may be published
/// again, and no session may end.
struct SlowCarrierTests {
    /// 16 MiB at 100 KiB/s take 164 s at least.
    @Test(arguments: [5, 100, 600] as [UInt64])
    func aSlowCarrierIsUsedForNewBytes(latency: UInt64) {
        let carrier = SlowCarrier(bytesPerSecond: 100 << 10, latency: latency, length: 16 << 20)
        let seconds = carrier.run(seconds: 220)
        #expect(carrier.problems == [])
        #expect(Double(carrier.published) < 1.1 * Double(16 << 20), "published \(carrier.published), \(seconds) s")
        #expect(!carrier.states.contains(.stalled), "\(carrier.states)")
        let roundTrip = carrier.nodes[0].pipe.roundTrip
        #expect(roundTrip > 2 * latency * PipeTimes.millisecond)
    }

    /// A piece of the largest size would take 3.2 s, longer than the silence after which a session stalls.
    @Test func aVerySlowCarrierStallsNothingForGood() {
        let carrier = SlowCarrier(bytesPerSecond: 20 << 10, latency: 50, length: 2 << 20)
        let seconds = carrier.run(seconds: 150)
        #expect(carrier.problems == [])
        #expect(Double(carrier.published) < 1.3 * Double(2 << 20), "published \(carrier.published), \(seconds) s")
    }

    /// A fast carrier far away: the window fills the way.
    @Test(arguments: [20, 300, 1_500] as [UInt64])
    func aFarCarrierIsFilledByTheWindow(latency: UInt64) {
        let carrier = SlowCarrier(bytesPerSecond: 10 << 20, latency: latency, length: 64 << 20)
        // The window of 4 MiB allows one window for each round trip.
        let least = max(64.0 / 10, 16 * 2 * Double(latency) / 1_000)
        let seconds = carrier.run(seconds: UInt64(least * 2) + 5)
        #expect(carrier.problems == [])
        #expect(Double(carrier.published) < 1.1 * Double(64 << 20), "published \(carrier.published), \(seconds) s")
        #expect(seconds < least * 1.6 + 10 * Double(latency) / 500, "\(seconds) s, at least \(least)")
    }
}
