import Testing

@testable import StrataBus

/// `StartTimes`, on a clock that the test controls.
struct StartTimesTests {
    private func moment(_ steady: UInt64, wall: UInt64) -> StartTimes.Moment { .init(steady: steady, wall: wall) }

    @Test func timesAreMeasuredOnTheClockThatOnlyGoesForward() {
        var times = StartTimes(spawnedAt: 1_000_000, now: moment(500, wall: 1_000_100))
        // Meanwhile the wall clock is set back an hour.
        times.note(.connected, at: moment(900, wall: 1))
        times.note(.setUpBegun, at: moment(950, wall: 2))
        times.note(.setUpEnded, at: moment(1_950, wall: 3))
        #expect(times.wall(.spawned) == 1_000_000)
        #expect(times.wall(.connected) == 1_000_500)
        #expect(times.between(.spawned, .connected) == 500)
        #expect(times.between(.setUpBegun, .setUpEnded) == 1_000)
        #expect(times.wall(.ready) == nil && times.between(.connected, .ready) == nil)
    }

    @Test func aMarkIsKeptAsItWasFirst() {
        var times = StartTimes()
        times.note(.connected, at: moment(10, wall: 100))
        times.note(.connected, at: moment(20, wall: 110))
        #expect(times.wall(.connected) == 100)
        #expect(!times.has(.spawned))
    }

    @Test func ownMarksAreKeptInOrderUpToTheLimit() {
        var times = StartTimes(spawnedAt: 1_000_000, now: moment(500, wall: 1_000_000))
        for number in 0..<UInt64(StartTimes.mostOwnMarks) {
            // The wall clock doesn't matter.
            let isNoted = times.note(own: "again", at: moment(600 + number, wall: 5))
            #expect(isNoted)
        }
        let isNoted = times.note(own: "one more", at: moment(900, wall: 5))
        #expect(!isNoted && times.ownMarks.count == 64 && times.ownMarks.allSatisfy { $0.name == "again" })
        #expect(times.ownMarks.map { times.wall($0) } == (0..<64).map { 1_000_100 + $0 })
    }

    @Test func aSpawnBeforeTheClockBeganIsKeptAsItWasSaid() {
        let times = StartTimes(spawnedAt: 7, now: moment(5, wall: 1_000))
        #expect(times.isOf(spawnedAt: 7) && !times.isOf(spawnedAt: 8))
        // A start whose time by the launcher's clock is ahead.
        let ahead = StartTimes(spawnedAt: 2_000, now: moment(5, wall: 1_000))
        #expect(ahead.isOf(spawnedAt: 2_000))
    }
}
