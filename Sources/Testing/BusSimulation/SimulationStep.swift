/// One step of a simulation: what is done, by which peer, and two numbers. Their meaning depends
/// on the state at that time.
///
/// Steps are made without knowing what happens, and mean something at any place in the list. So
/// some can be left out, which makes a failure shorter.
struct SimulationStep: Equatable {
    enum Kind: UInt8, CaseIterable {
        // What the machine does.
        case deliver, writeOn, idle, endRound, wait, replace
        // What a peer does with its connection.
        case connect, read, stall, hangUp, close, lie
        // What the launcher does.
        case spawn, kill, retire
        // What a peer sends.
        case call, open, report, broadcast, cancel, credit, observe, unobserve, create, release, ask, flood, tell
        // What a peer answers.
        case reply, fail, partial

        /// Whether a peer makes a request.
        var isRequest: Bool {
            switch self {
            case .call, .open, .report, .broadcast, .observe, .unobserve, .create, .release, .ask, .flood, .tell: true
            default: false
            }
        }
    }

    let kind: Kind
    let peer: Int
    let a: Int
    let b: Int

    init(kind: Kind, peer: Int, a: Int, b: Int) {
        (self.kind, self.peer, self.a, self.b) = (kind, peer, a, b)
    }

    /// Reads a step from six bytes. A missing byte counts as 0.
    init(_ bytes: ArraySlice<UInt8>) {
        let all = Array(bytes) + [0, 0, 0, 0, 0, 0]
        self.init(
            kind: Kind.allCases[Int(all[0]) % Kind.allCases.count], peer: Int(all[1]),
            a: Int(all[2]) << 4 | Int(all[4] >> 4), b: Int(all[3]) << 4 | Int(all[5] >> 4))
    }

    /// The weights of the kinds of steps. Each seed leaves some kinds out and prefers others.
    struct Mix {
        private var table: [Kind] = []

        init(_ numbers: inout SeededGenerator) {
            for kind in Kind.allCases {
                let often =
                    switch kind {
                    case .deliver: 24
                    case .endRound, .read: 16
                    case .writeOn, .idle, .wait: 3
                    case .connect, .call, .reply: 8
                    case .spawn, .credit: 3
                    // A replacement takes as long as about a hundred other steps.
                    case .replace: numbers.below(2)
                    default: [0, 1, 1, 2, 4, 8][numbers.below(6)]
                    }
                let isRare = kind == .close || kind == .lie || kind == .replace || kind == .hangUp || kind == .flood
                table += Array(repeating: kind, count: isRare ? min(often, 1) : often)
            }
        }

        func next(_ numbers: inout SeededGenerator) -> SimulationStep {
            SimulationStep(
                kind: table[numbers.below(table.count)], peer: numbers.below(1 << 8), a: numbers.below(1 << 12),
                b: numbers.below(1 << 12))
        }
    }
}

/// Makes a failing list shorter, until only what matters is left.
///
/// This is delta debugging: it leaves out ever smaller parts (Zeller and Hildebrandt, 2002).
enum Shrinking {
    /// - Parameter fails: whether a part of the list still fails in the same way.
    /// - Returns: a part from which no single element can be left out.
    static func shortest<Element>(_ all: [Element], _ fails: ([Element]) -> Bool) -> [Element] {
        var kept = all
        var size = max(1, kept.count / 2)
        while true {
            var (start, hasShrunk) = (0, false)
            while start < kept.count {
                let without = Array(kept[..<start] + kept[min(start + size, kept.count)...])
                if fails(without) {
                    kept = without
                    hasShrunk = true
                } else {
                    start += size
                }
            }
            if size == 1, !hasShrunk { return kept }
            if !hasShrunk { size /= 2 }
        }
    }
}
