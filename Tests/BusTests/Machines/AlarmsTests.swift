import Testing

@testable import StrataBus

/// The due alarms, compared with a plain list.
@Suite struct AlarmsTests {
    private static func hello(_ peer: UInt64) -> Alarms.Alarm { Alarms.Alarm(kind: .hello, peer: peer) }

    /// Takes out all due alarms, in order.
    private func takeAll(_ alarms: inout Alarms, now: UInt64) -> [UInt64] {
        var taken: [UInt64] = []
        while let alarm = alarms.takeDue(now: now) { taken.append(alarm.peer) }
        return taken
    }

    @Test func theEarliestComesFirstAndEqualsAsTheyWereSet() {
        var alarms = Alarms()
        for (peer, due) in [(1, 30), (2, 10), (3, 20), (4, 10)] as [(UInt64, UInt64)] {
            alarms.set(Self.hello(peer), at: due)
        }
        #expect(alarms.next == 10)
        #expect(alarms.all.map(\.alarm.peer) == [2, 4, 3, 1])
        let taken = [9, 20, 30].map { takeAll(&alarms, now: $0) }
        #expect(taken == [[], [2, 4, 3], [1]] && alarms.next == nil)
    }

    @Test func oneThatIsSetAnewComesOnceAtItsNewTime() {
        var alarms = Alarms()
        alarms.set(Self.hello(1), at: 10)
        alarms.set(Self.hello(2), at: 20)
        alarms.set(Self.hello(1), at: 20)
        let taken = [19, 20].map { takeAll(&alarms, now: $0) }
        #expect(taken == [[], [2, 1]])
    }

    @Test func cancelledOnesNeverCome() {
        var alarms = Alarms()
        alarms.set(Self.hello(1), at: 10)
        #expect(alarms.isSet(Self.hello(1)) && !alarms.isSet(Alarms.Alarm(kind: .idle, peer: 1)))
        let (first, second) = (alarms.cancel(Self.hello(1)), alarms.cancel(Self.hello(1)))
        #expect(first && !second && !alarms.isSet(Self.hello(1)))
        let taken = takeAll(&alarms, now: .max)
        #expect(taken == [])
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func anyOrderOfSettingAndCancellingGivesThePlainLists(seed: UInt64) {
        var random = seed
        func next(_ most: UInt64) -> UInt64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (random >> 33) % most
        }
        var alarms = Alarms()
        var plain: [(peer: UInt64, due: UInt64)] = []
        var now: UInt64 = 0
        for _ in 0..<5_000 {
            let peer = next(60)
            switch next(4) {
            case 0:
                let wasSet = alarms.cancel(Self.hello(peer))
                #expect(wasSet == plain.contains { $0.peer == peer })
                plain.removeAll { $0.peer == peer }
            case 1:
                now += next(5)
                let due = plain.filter { $0.due <= now }.sorted { $0.due < $1.due }.map(\.peer)
                let taken = takeAll(&alarms, now: now)
                #expect(taken == due)
                plain.removeAll { $0.due <= now }
            default:
                let due = now + next(40)
                alarms.set(Self.hello(peer), at: due)
                plain.removeAll { $0.peer == peer }
                plain.append((peer, due))
            }
            #expect(alarms.next == plain.map(\.due).min())
        }
    }
}
