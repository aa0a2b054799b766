import Testing

@testable import StrataBus

/// A request's life: each pair of state and event is listed as legal or not.
struct RequestLifeTests {
    static let events: [RequestLife.Event] =
        RequestLife.Kind.allCases.map { .opened($0) } + [.held, .released, .sent, .ended]

    /// All states that a request can reach.
    static var states: [RequestLife] {
        var found = [RequestLife()]
        var index = 0
        while index < found.count {
            for event in events {
                if let next = found[index].after(event), !found.contains(next) { found.append(next) }
            }
            index += 1
        }
        return found
    }

    @Test func takeGoesWhereAfterSays() {
        for state in Self.states {
            for event in Self.events {
                guard let next = state.after(event) else { continue }
                var life = state
                life.take(event)
                #expect(life == next, "\(state), \(event)")
            }
        }
    }

    @Test func onlyCallsAndReportsWaitForAModule() {
        let held = Set(Self.states.filter { $0.state == .held }.map(\.kind))
        #expect(held == [.call, .report])
    }

    @Test func aReportIsSentAsItsNotices() {
        let sent = Set(Self.states.filter { $0.state == .sent }.map(\.kind))
        #expect(sent == [.call, .notice, .own])
    }

    @Test func whatWasSentCanOnlyEnd() {
        for state in Self.states where state.state == .sent {
            #expect(Self.events.filter { state.after($0) != nil } == [.ended])
        }
    }

    @Test func eachSlotIsOpenedOnce() {
        for state in Self.states where state.state != .free {
            for kind in RequestLife.Kind.allCases { #expect(state.after(.opened(kind)) == nil, "\(state)") }
        }
    }
}
