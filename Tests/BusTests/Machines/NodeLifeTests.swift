import Testing

@testable import StrataBus

@Suite(.timeLimit(.hang))
struct NodeLifeTests {
    static let states: [NodeLife] = [.never, .joining, .up, .mismatch, .lost]

    @Test func aNodeJoinsIsLostAndComesBack() {
        var life = NodeLife.never
        for (event, state) in [
            (.connected, .joining), (.agreed, .up), (.ended, .lost), (.connected, .joining), (.disagreed, .mismatch),
            (.ended, .lost),
        ] as [(NodeLife.Event, NodeLife)] {
            life.take(event)
            #expect(life == state)
        }
    }

    @Test func onlyAConnectedNodeAgreesOrEnds() {
        for state in Self.states {
            for event in NodeLife.Event.allCases {
                let isLegal =
                    switch event {
                    case .connected: !state.isConnected
                    case .agreed, .disagreed: state == .joining || state == .up
                    case .ended: state.isConnected
                    }
                #expect((state.after(event) != nil) == isLegal, "\(state), \(event)")
            }
        }
    }
}
