import Testing

@testable import StrataBus

/// A connection's life: each pair of state and event is listed as legal or not.
struct PeerLifeTests {
    static let states: [PeerLife] =
        [.greeting, .waitingForVouch] + PeerLife.Reading.allCases.map { .open($0) } + [.ending, .closed]

    static let events: [PeerLife.Event] =
        [.vouchAwaited, .vouched, .admitted, .resumed, .ended, .closed]
        + PeerLife.Reading.allCases.map { .paused($0) }

    @Test func aHelloMayWaitForTheLaunchersVouch() {
        var life = PeerLife.greeting
        for event in [PeerLife.Event.vouchAwaited, .vouched, .admitted] { life.take(event) }
        #expect(life == .open(.read))
        #expect(PeerLife.waitingForVouch.after(.admitted) == nil, "its hello is judged again first")
    }

    @Test func itIsReadUntilItIsPausedOrEnds() {
        for state in Self.states { #expect(state.isRead == [.greeting, .open(.read)].contains(state), "\(state)") }
    }

    @Test func nothingComesAfterItsEnd() {
        for event in Self.events {
            #expect(PeerLife.closed.after(event) == nil, "\(event)")
            #expect((PeerLife.ending.after(event) == nil) == (event != .closed), "\(event)")
        }
    }

    @Test func onlyWhatIsPausedIsResumed() {
        for state in Self.states {
            let isPaused = [.open(.answersUnread), .open(.idleWork)].contains(state)
            #expect((state.after(.resumed) == .open(.read)) == isPaused, "\(state)")
        }
    }
}
