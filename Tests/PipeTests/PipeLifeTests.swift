import Testing

@testable import StrataPipe

/// The stages of a session: each pair of state and event is listed as legal or not.
struct PipeLifeTests {
    static let states: [PipeLife] =
        [.idle, .greeting, .opening, .up] + PipeLife.Stall.allCases.map { .stalled($0) } + [.closing]
    static let events: [PipeLife.Event] =
        [.greeted, .rejected, .accepted, .opened, .heard, .ended, .closed]
        + PipeLife.Stall.allCases.map { .stalled($0) }

    @Test func aSessionBeginsByAgreementAndAConnectionToTheBroker() {
        for start in [[PipeLife.Event.greeted, .accepted, .opened], [.accepted, .opened]] {
            var life = PipeLife.idle
            for event in start { life.take(event) }
            #expect(life == .up)
        }
    }

    @Test func theBrokersConnectionIsClosedBeforeTheNextSession() {
        for state in Self.states where state.hasSession {
            #expect(state.after(.ended) == .closing, "\(state)")
            #expect(state.after(.closed) == .idle, "\(state)")
        }
        for event in Self.events {
            #expect((PipeLife.closing.after(event) == nil) == (event != .closed), "\(event)")
        }
    }

    @Test func onlyAnOpenSessionStalls() {
        for state in Self.states {
            for why in PipeLife.Stall.allCases {
                #expect(state.after(.stalled(why)) == (state.isOpen ? .stalled(why) : nil), "\(state)")
            }
            let isStalled = if case .stalled = state { true } else { false }
            #expect(state.after(.heard) == (isStalled ? .up : nil), "\(state)")
        }
    }

    @Test func noSecondSessionBeginsBesideOne() {
        for state in Self.states {
            let isFree = state == .idle || state == .greeting
            #expect((state.after(.accepted) != nil) == isFree, "\(state)")
        }
    }
}
