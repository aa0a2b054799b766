/// One step of a simulation of joined brokers: what is done, and three numbers that say to whom.
///
/// Like `SimulationStep`, a step means something in every state, so that some can be left out.
struct NodeStep: Equatable {
    enum Kind: UInt8, CaseIterable {
        // What the machines do.
        case sweep, turn, endRound, idle, carry, act, read, wait, jump
        // What harms them.
        case cut, killLink, stopLink, killBroker, replaceBroker
        // What peers do.
        case connect, close, call, open, report, broadcast, observe, unobserve, cancel, credit, reply, fail, partial

        /// How often it is done, beside the others.
        fileprivate var weight: Int {
            switch self {
            case .sweep: 16
            case .turn, .carry, .act: 12
            case .endRound, .read, .call, .broadcast: 8
            case .reply: 6
            case .wait, .report, .connect: 4
            case .idle, .open, .observe, .unobserve, .credit, .partial, .fail, .cancel: 2
            case .jump, .close, .cut, .killLink, .stopLink, .killBroker, .replaceBroker: 0
            }
        }

        fileprivate var isHarm: Bool {
            switch self {
            case .jump, .close, .cut, .killLink, .stopLink, .killBroker, .replaceBroker: true
            default: false
            }
        }
    }

    let kind: Kind
    let a: Int
    let b: Int
    let c: Int

    /// The weights of the kinds of steps. Each seed prefers some kinds, and has some kinds of harm.
    struct Mix {
        private var table: [Kind] = []

        init(_ app: JoinedApp, _ numbers: inout SeededGenerator) {
            for kind in Kind.allCases {
                let often = kind.isHarm ? numbers.below(3) : kind.weight * [1, 1, 2, 4][numbers.below(4)]
                let isLeftOut = kind.isHarm && app.isCalm && kind != .close
                table += Array(repeating: kind, count: isLeftOut ? 0 : often)
            }
        }

        func next(_ numbers: inout SeededGenerator) -> NodeStep {
            NodeStep(
                kind: table[numbers.below(table.count)], a: numbers.below(1 << 12), b: numbers.below(1 << 12),
                c: numbers.below(1 << 12))
        }
    }
}
