import StrataTesting

@testable import StrataPipe

/// Two links, an unreliable carrier between them, and a broker at each end, all moved by one seed.
///
/// Each step does one thing at random. Bytes are compared as they reach a broker. Problems are
/// collected, not thrown, so that a test shows the first one with its step.
final class PipeSimulation {
    /// How likely each harm is, of 1,000 steps or messages.
    struct Harm {
        var lostMessages = 0
        var doubledMessages = 0
        var reorderedMessages = 0
        var carrierCuts = 0
        /// The longest time without a carrier, in milliseconds.
        var longestCut: UInt64 = 0
        /// Whether a carrier may be cut while the session isn't up. Cuts in a row may then last too
        /// long.
        var cutsOverlap = false
        var linkRestarts = 0
        var brokerRestarts = 0
        /// Steps in which several seconds pass at once.
        var longPauses = 0

        /// Harm that must end no session.
        static let light = Harm(
            lostMessages: 20, doubledMessages: 20, reorderedMessages: 10, carrierCuts: 1, longestCut: 3_000)
        static let heavy = Harm(
            lostMessages: 80, doubledMessages: 50, reorderedMessages: 50, carrierCuts: 2, longestCut: 8_000,
            cutsOverlap: true, linkRestarts: 1, brokerRestarts: 1, longPauses: 1)
    }

    private enum Message {
        case control([UInt8])
        case piece([UInt8])
    }

    private var generator: SeededGenerator
    private let harm: Harm
    private let window: Int
    private(set) var now: UInt64 = PipeTimes.second
    private(set) var links: [SimulatedNode] = []
    /// The messages on their way to each node.
    private var ways: [[Message]] = [[], []]
    /// When each node's carrier is back; nil while it is there.
    private var cutUntil: [UInt64?] = [nil, nil]
    /// How many bytes of a session's stream a broker was told to have been sent, by the stream's key.
    private var reportedSent: [UInt64: UInt64] = [:]
    /// The ends of sessions that links reported, with their steps.
    private(set) var losses: [String] = []
    private(set) var restarts = 0
    private(set) var bytesRead: UInt64 = 0
    private(set) var resent: UInt64 = 0
    private(set) var problems: [String] = []
    private(set) var step = 0

    init(seed: UInt64, harm: Harm, window: Int = 64 << 10) {
        generator = SeededGenerator(Int(seed))
        self.harm = harm
        self.window = window
        links = [makeLink("berlin", "tokyo"), makeLink("tokyo", "berlin")]
        for node in 0...1 { connectCarrier(node) }
    }

    /// Runs steps, until there is a problem.
    func run(steps: Int) {
        for _ in 0..<steps where problems.isEmpty {
            step += 1
            takeStep()
        }
    }

    /// Ends all harm, and runs until both nodes are up and each has all that the other wrote.
    func settle() {
        var rounds = 0
        while problems.isEmpty, !isSettled {
            rounds += 1
            guard rounds < 200_000 else {
                problems.append("it doesn't settle: \(links.map { "\($0.pipe.life) \($0.pipe.state)" })")
                return
            }
            for node in 0...1 {
                if cutUntil[node] != nil { connectCarrier(node) }
                while !ways[node].isEmpty { deliver(ways[node].removeFirst(), to: node) }
                openBroker(node)
                readAll(node)
            }
            pass(PipeTimes.millisecond)
        }
    }

    private var isSettled: Bool {
        guard links.allSatisfy({ $0.pipe.life == .up && $0.isConnected }),
            links[0].pipe.session == links[1].pipe.session
        else { return false }
        return links[0].written == links[1].read && links[1].written == links[0].read
    }

    // MARK: - Steps

    private func chance(_ perThousand: Int) -> Bool {
        perThousand > 0 && Int.random(in: 0..<1_000, using: &generator) < perThousand
    }

    private func takeStep() {
        let node = Int.random(in: 0...1, using: &generator)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<45: deliverOne(to: node)
        case 45..<65: write(node)
        case 65..<80: read(node)
        case 80..<84: openBroker(node)
        default: pass(UInt64.random(in: 0...20_000_000, using: &generator))
        }
        if chance(1) {
            if chance(500 * harm.carrierCuts) { cutCarrier(node) }
            if chance(500 * harm.linkRestarts) { restartLink(node) }
            if chance(500 * harm.brokerRestarts) { restartBroker(node) }
            if chance(500 * harm.longPauses) { pass(UInt64.random(in: 0...6, using: &generator) * PipeTimes.second) }
        }
    }

    private func deliverOne(to node: Int) {
        guard !ways[node].isEmpty else { return }
        let place = chance(harm.reorderedMessages) ? Int.random(in: 0..<ways[node].count, using: &generator) : 0
        let message = chance(harm.doubledMessages) ? ways[node][place] : ways[node].remove(at: place)
        if !chance(harm.lostMessages) { deliver(message, to: node) }
    }

    private func deliver(_ message: Message, to node: Int) {
        let link = links[node]
        switch message {
        case .control(let bytes): bytes.withUnsafeBytes { link.pipe.received(control: $0, at: now) }
        case .piece(let bytes): bytes.withUnsafeBytes { link.pipe.received(piece: $0, at: now) }
        }
        perform(node)
    }

    private func write(_ node: Int) {
        let link = links[node]
        guard link.isConnected, link.pipe.room > 0 else { return }
        let most = chance(20) ? 100_000 : 300
        let count = Int.random(in: 1...min(link.pipe.room, most), using: &generator)
        SimulatedNode.stream(of: link.name, session: link.pipe.session).withBytes(at: link.written, count: count) {
            link.pipe.brokerWrote($0)
        }
        link.written += UInt64(count)
        perform(node)
    }

    private func read(_ node: Int) {
        let waiting = links[node].pipe.waiting
        if waiting > 0 { take(chance(300) ? Int.random(in: 1...waiting, using: &generator) : waiting, node) }
    }

    private func readAll(_ node: Int) {
        if links[node].pipe.waiting > 0 { take(links[node].pipe.waiting, node) }
    }

    /// Lets a broker read bytes, and compares them with what the other one wrote.
    private func take(_ count: Int, _ node: Int) {
        let link = links[node]
        guard link.isConnected else { return }
        let other = links[1 - node]
        let stream = SimulatedNode.stream(of: other.name, session: link.pipe.session)
        let isRight = link.pipe.withWaiting { first, second in
            let head = UnsafeRawBufferPointer(rebasing: first.prefix(count))
            let tail = UnsafeRawBufferPointer(rebasing: second.prefix(count - head.count))
            return stream.holds(head, at: link.read) && stream.holds(tail, at: link.read + UInt64(head.count))
        }
        if !isRight { problem("\(link.name) reads other bytes than were written, from \(link.read) on") }
        link.pipe.brokerTook(count, at: now)
        link.read += UInt64(count)
        bytesRead += UInt64(count)
        let sent = other.pipe.session == link.pipe.session ? other.pipe.sent : reportedSent[stream.key] ?? 0
        if link.read > sent { problem("\(link.name) has read \(link.read) bytes, and only \(sent) were sent") }
        perform(node)
    }

    private func pass(_ time: UInt64) {
        now += time
        for node in 0...1 {
            if let until = cutUntil[node], now >= until { connectCarrier(node) }
            guard let deadline = links[node].pipe.deadline, deadline <= now else { continue }
            links[node].pipe.timePassed(at: now)
            perform(node)
            if let next = links[node].pipe.deadline, next <= now { problem("\(links[node].name) waits for the past") }
        }
    }

    // MARK: - Harm

    private func connectCarrier(_ node: Int) {
        cutUntil[node] = nil
        links[node].pipe.carrierConnected(largestMessage: 8 << 10, at: now)
        perform(node)
    }

    private func cutCarrier(_ node: Int) {
        guard cutUntil[node] == nil, harm.cutsOverlap || links.allSatisfy({ $0.pipe.life == .up }) else { return }
        let length = UInt64.random(in: 0...harm.longestCut, using: &generator)
        cutUntil[node] = now + length * PipeTimes.millisecond
        links[node].pipe.carrierDisconnected(at: now)
        // What was on its way to the node is lost, and some of what it had published.
        ways[node] = []
        let left = Int.random(in: 0...ways[1 - node].count, using: &generator)
        ways[1 - node].removeLast(left)
        perform(node)
    }

    private func restartLink(_ node: Int) {
        restarts += 1
        let old = links[node]
        noteSent(old)
        resent += old.pipe.figures.resent
        links[node] = makeLink(old.name, links[1 - node].name)
        ways[node] = []
        if cutUntil[node] == nil { connectCarrier(node) }
    }

    private func restartBroker(_ node: Int) {
        let link = links[node]
        guard link.isConnected || link.isOpening else { return }
        restarts += 1
        noteSent(link)
        close(link, "it was restarted")
        perform(node)
    }

    // MARK: - What the links do

    private func perform(_ node: Int) {
        let link = links[node]
        while let action = link.pipe.next(at: now) {
            switch action {
            case .publishControl(let message): publish(.control(message.encoded()), from: node)
            case .publishPiece(let header, let count):
                var bytes = [UInt8](repeating: 0, count: PieceHeader.size + count)
                bytes.withUnsafeMutableBytes { link.pipe.writePiece(header, count: count, to: $0.baseAddress!) }
                publish(.piece(bytes), from: node)
            case .openBroker: link.isOpening = true
            case .closeBroker(let loss):
                losses.append("step \(step): \(link.name) lost the other: \(loss.ending)")
                if loss.sent > link.written { problem("\(link.name) says that \(loss.sent) bytes were sent") }
                noteSent(link)
                close(link, "")
            }
        }
        if link.pipe.memory > 2 * window { problem("\(link.name) holds \(link.pipe.memory) bytes") }
    }

    private func publish(_ message: Message, from node: Int) {
        if cutUntil[1 - node] == nil {
            ways[1 - node].append(message)
        } else if chance(500) {
            links[node].pipe.noResponders(at: now)
        }
    }

    private func openBroker(_ node: Int) {
        let link = links[node]
        guard link.isOpening else { return }
        link.isOpening = false
        link.isConnected = true
        link.written = 0
        link.read = 0
        link.pipe.brokerOpened(at: now)
        perform(node)
    }

    private func close(_ link: SimulatedNode, _ why: String) {
        link.isOpening = false
        link.isConnected = false
        link.pipe.brokerClosed(why, at: now)
    }

    private func noteSent(_ link: SimulatedNode) {
        reportedSent[SimulatedNode.stream(of: link.name, session: link.pipe.session).key] = link.pipe.sent
    }

    private func makeLink(_ me: String, _ other: String) -> SimulatedNode {
        SimulatedNode(
            PipeSettings(
                me: me, other: other, link: generator.next() | 1, firstSession: generator.next() >> 2 | 1,
                window: window), at: now)
    }

    private func problem(_ text: String) {
        if problems.count < 3 { problems.append("step \(step): \(text)") }
    }
}
