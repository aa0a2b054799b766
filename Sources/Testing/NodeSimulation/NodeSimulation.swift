import StrataBus
import StrataCore

/// A simulation of two or three nodes: their brokers, links and peers, what is between them, and the
/// time. A seed chooses all of it.
///
/// The brokers are those of `BusSimulation`, and the links have the pipes of `strata-link`. Between the
/// links a carrier loses, doubles and reorders messages. Links and brokers die, are replaced, or are cut off.
/// After all that, everything is well again, and a referee compares what the peers have received with
/// docs/nodes.md.
package final class NodeSimulation {
    let app: JoinedApp
    let referee: NodeReferee
    let nodes: [JoinedNode]
    private(set) var now: UInt64 = 1_000_000_000
    var carrier: LossyCarrier
    /// What links and peers choose.
    var numbers: SeededGenerator
    var nextReply = 1
    private let steps: [NodeStep]
    /// Whether all is well again, so that everything only comes to its end.
    private(set) var isWell = false
    /// Receives the story, line by line; nil if no story is wanted.
    private let teller: ((String) -> Void)?
    let scanner = HeaderScanner()
    /// The events of the brokers that were killed.
    var formerEvents: UInt64 = 0

    /// The number of events that the brokers have handled.
    package var events: UInt64 { formerEvents + nodes.reduce(0) { $0 + $1.broker.events } }

    init(seed: Int, steps: [NodeStep], telling teller: ((String) -> Void)? = nil) {
        var numbers = SeededGenerator(seed)
        app = JoinedApp(&numbers)
        referee = NodeReferee(app)
        carrier = LossyCarrier(app, numbers)
        self.numbers = SeededGenerator(seed &+ 1 << 41)
        self.steps = steps
        self.teller = teller
        nodes = app.nodes.indices.map { [app, now] in JoinedNode($0, app, at: now) }
        for node in nodes { begin(node) }
    }

    /// Returns the steps of a seed. The first ones start all peers, and join the nodes.
    static func steps(seed: Int, count: Int) -> [NodeStep] {
        var numbers = SeededGenerator(seed)
        let app = JoinedApp(&numbers)
        numbers = SeededGenerator(seed &+ 1 << 40)
        let connects = (0..<2 * app.rows.count).map { NodeStep(kind: .connect, a: $0, b: numbers.below(1 << 12), c: 0) }
        let sweeps = (0..<numbers.below(14)).map { _ in NodeStep(kind: .wait, a: 0, b: 1, c: 0) }
        let mix = NodeStep.Mix(app, &numbers)
        return connects + sweeps + (0..<count).map { _ in mix.next(&numbers) }
    }

    /// Takes all steps, then lets everything come to its end.
    /// - Returns: the first rule that was broken; nil if there is none.
    package func run() -> BrokenRule<NodeRule>? {
        for step in steps where referee.finding == nil { take(step) }
        if referee.finding == nil { finish() }
        return referee.finding
    }

    func tell(_ line: @autoclosure () -> String) {
        if let teller { teller(line()) }
    }

    /// The referee looks at the brokers.
    func look() {
        referee.time = nodes.reduce(now) { max($0, $1.broker.time) }
        referee.look(nodes)
    }

    // MARK: Steps

    private func take(_ step: NodeStep) {
        let node = nodes[step.a % nodes.count]
        switch step.kind {
        case .sweep: sweep(readingAll: step.b % 4 > 0)
        case .turn: turn(node, step)
        case .endRound: node.broker.endRound()
        case .idle: node.broker.advanceIdleWork()
        case .carry: carry(node.index, (node.index + 1 + step.b % (nodes.count - 1)) % nodes.count)
        case .act: node.link?.act(at: now)
        case .read: readOne(node, step.b)
        case .wait: wait(step)
        case .jump: pass(to: now + UInt64(1 + step.b % 8_000) * 1_000_000)
        case .cut: cut(node, for: UInt64([10, 500, 3_000, 8_000][step.b % 4] * (1 + step.c % 3)) * 1_000_000)
        case .killLink: endLink(node, startsIn: UInt64([10, 100, 2_000, 6_000][step.b % 4]) * 1_000_000)
        case .stopLink: node.link?.shutDown(at: now)
        case .killBroker: killBroker(node)
        case .replaceBroker: replaceBroker(node)
        case .connect: connect(step)
        default: act(step)
        }
        look()
    }

    private func turn(_ node: JoinedNode, _ step: NodeStep) {
        let waiting = node.broker.connections.filter(\.wantsTurn)
        guard !waiting.isEmpty else { return }
        node.broker.takeTurn(waiting[step.b % waiting.count], most: step.c & 3 > 0 ? .max : 1 + (step.c >> 2) % 300)
    }

    private func readOne(_ node: JoinedNode, _ choice: Int) {
        let waiting = node.peers.filter { !$0.pipe.arrived.isEmpty }
        if !waiting.isEmpty { read(waiting[choice % waiting.count]) }
    }

    /// Some time passes, in which everything goes on.
    private func wait(_ step: NodeStep) {
        let part = UInt64([1, 10, 50, 200][step.b % 4]) * 1_000_000
        for _ in 0...(step.c % 4) {
            pass(to: now + part)
            sweep(readingAll: true)
        }
    }

    /// Lets everything happen once that can happen now.
    /// - Returns: whether anything did.
    @discardableResult
    func sweep(readingAll: Bool) -> Bool {
        var hasWorked = false
        for node in nodes {
            for connection in node.broker.connections {
                if node.broker.writeOn(connection) { hasWorked = true }
                if node.broker.takeTurn(connection) {
                    hasWorked = true
                    look()
                }
            }
            if node.broker.advanceIdleWork() { hasWorked = true }
            if node.broker.endRound() { hasWorked = true }
            look()
            node.link?.act(at: now)
            noteEnd(node)
            if readingAll {
                for peer in node.peers where !peer.pipe.arrived.isEmpty {
                    hasWorked = true
                    read(peer)
                }
            }
        }
        for from in nodes.indices {
            for to in nodes.indices where carrier.count(from: from, to: to) > 0 {
                hasWorked = true
                for _ in 0..<carrier.count(from: from, to: to) { carry(from, to) }
            }
        }
        return hasWorked
    }

    /// Moves the clock, and lets all do what is due.
    func pass(to time: UInt64) {
        now = max(now, time, nodes.reduce(0) { max($0, $1.broker.time) })
        for node in nodes {
            var rounds = 0
            repeat {
                node.broker.pass(to: now)
                rounds += 1
            } while (node.broker.due ?? .max) <= now && rounds < 1_000
            referee.expect(rounds < 1_000, .work, "\(node.name)'s broker always has something due")
            node.broker.endRound()
            if let until = node.cutUntil, until <= now { node.cutUntil = nil }
            if node.cutUntil == nil { node.link?.carrierConnected(at: now) }
            if let start = node.linkStartsAt, start <= now { startLink(node) }
            node.link?.timePassed(at: now)
        }
        look()
    }

    // MARK: The end

    private func finish() {
        tell("# all is well again: nothing is lost, and all links run")
        (isWell, carrier.isWell) = (true, true)
        for node in nodes where node.cutUntil != nil { node.cutUntil = now }
        goOn(seconds: 45) { [self] in isJoined }
        goOn(seconds: 2)
        tell("# all answer what they have")
        answerAll()
        goOn(seconds: 45) { [self] in !referee.peers.contains { $0.isUsable && !$0.open.isEmpty } }
        if referee.finding == nil { referee.haveRetained(nodes) }
        tell("# all broadcast once more")
        broadcastAll()
        goOn(seconds: 1)
        if referee.finding == nil { referee.settled(nodes) }
        guard referee.finding == nil else { return }
        tell("# all close")
        for node in nodes {
            node.link?.die()
            for peer in node.peers { peer.pipe.close() }
            (node.peers, node.link) = ([], nil)
        }
        for node in nodes {
            node.linkStartsAt = nil
            var rounds = 0
            while rounds < 10_000, settle(node) || (node.broker.due ?? .max) < now + 100_000_000_000 {
                if let due = node.broker.due { node.broker.pass(to: due) }
                rounds += 1
            }
            let leftovers = node.broker.leftovers.map { "\($0.count) \($0.name)" }
            referee.expect(
                leftovers.isEmpty, .nothingLeft, "\(node.name)'s broker still has \(leftovers.joined(separator: ", "))")
        }
    }

    private func settle(_ node: JoinedNode) -> Bool {
        var hasWorked = false
        for connection in node.broker.connections where node.broker.takeTurn(connection) { hasWorked = true }
        if node.broker.advanceIdleWork() { hasWorked = true }
        if node.broker.endRound() { hasWorked = true }
        return hasWorked
    }

    /// Whether all nodes see each other as up. A broker may not have noticed yet that its link has ended.
    private var isJoined: Bool {
        nodes.allSatisfy { node in
            nodes.allSatisfy { $0 === node || node.broker.isUp($0.name) && node.link?.line(to: $0.index) != nil }
        }
    }

    /// Lets time pass, with everything that happens in it, until that is enough.
    private func goOn(seconds: UInt64, until isEnough: () -> Bool = { false }) {
        let end = now + seconds * 1_000_000_000
        while referee.finding == nil, now < end, !isEnough() {
            var rounds = 0
            while sweep(readingAll: true), referee.finding == nil, rounds < 10_000 { rounds += 1 }
            referee.expect(rounds < 10_000, .work, "the nodes never finish their work")
            var due = end
            for node in nodes {
                due = min(due, node.broker.due ?? .max, node.link?.deadline ?? .max, node.linkStartsAt ?? .max)
            }
            pass(to: max(due, now + 1_000_000))
        }
    }
}
