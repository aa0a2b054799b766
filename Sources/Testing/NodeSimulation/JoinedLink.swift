import StrataBus
import StrataCore
internal import StrataPipe

/// The process of a node that carries bytes between its broker and those of the other nodes. It does what
/// `strata-link` does, with the same state machine (`NodePipe`), over a carrier that is simulated.
final class JoinedLink {
    /// What it does for one other node.
    final class Way {
        let other: Int
        var pipe: NodePipe
        var line: JoinedLine?

        init(_ other: Int, _ settings: PipeSettings, at now: UInt64) {
            self.other = other
            pipe = NodePipe(settings, at: now)
        }
    }

    /// What it does to the outside.
    struct Surroundings {
        var publish: (LossyCarrier.Message, _ to: Int) -> Void
        var tell: (String) -> Void
        var problem: (String) -> Void
    }

    let number: UInt64
    let pid: Int32
    var token: String { "link\(number)" }
    private unowned let node: JoinedNode  // because the node owns it
    private let surroundings: Surroundings
    private let isCalm: Bool
    private(set) var ways: [Way] = []
    private var control: JoinedLine?
    private var input = SimulatedInput()
    private var nextID: UInt64 = 2
    /// The nodes of which it has reported the loss, by the report's id.
    private var reported: [UInt64: Int] = [:]
    private(set) var carrierIsUp = false
    /// When an orderly end is over at the latest; nil if it doesn't end.
    private var endsBy: UInt64?
    private(set) var isOver = false
    private let scanner = HeaderScanner()

    /// The most bytes that wait for the broker.
    private static let mostUnread = 64 << 10

    init(
        _ node: JoinedNode, _ app: JoinedApp, _ numbers: inout SeededGenerator, at now: UInt64,
        _ surroundings: Surroundings
    ) {
        (self.node, self.surroundings, isCalm) = (node, surroundings, app.isCalm)
        number = numbers.next() | 1
        pid = node.newProcess()
        for other in app.nodes.indices where other != node.index {
            let settings = PipeSettings(
                me: node.name, other: app.nodes[other].name, link: number, firstSession: numbers.next() >> 2 | 1,
                window: app.window)
            ways.append(Way(other, settings, at: now))
        }
    }

    /// Returns the connection that carries another node's stream, and the session; nil if there is none.
    func line(to other: Int) -> (JoinedLine, UInt64)? {
        guard let way = ways.first(where: { $0.other == other }), let line = way.line, line.isOpen, way.pipe.life.isOpen
        else { return nil }
        return (line, way.pipe.session)
    }

    /// Whether it has begun to connect to its broker.
    var isConnected: Bool { control != nil || endsBy != nil }

    // MARK: Events

    /// The launcher has vouched for it.
    func connect() { control = JoinedLine(node, pid, #"{"protocol":1,"role":"link","token":"\#(token)"}"#) }

    func carrierConnected(at now: UInt64) {
        guard control?.isOpen == true, !carrierIsUp, endsBy == nil else { return }
        carrierIsUp = true
        for way in ways { way.pipe.carrierConnected(largestMessage: 8 << 10, at: now) }
    }

    func carrierDisconnected(at now: UInt64) {
        guard carrierIsUp else { return }
        carrierIsUp = false
        for way in ways { way.pipe.carrierDisconnected(at: now) }
    }

    func received(_ message: LossyCarrier.Message, from other: Int, at now: UInt64) {
        guard carrierIsUp, let way = ways.first(where: { $0.other == other }) else { return }
        switch message {
        case .control(let bytes): bytes.withUnsafeBytes { way.pipe.received(control: $0, at: now) }
        case .piece(let bytes): bytes.withUnsafeBytes { way.pipe.received(piece: $0, at: now) }
        }
        perform(way, at: now)
    }

    func noResponders(from other: Int, at now: UInt64) {
        ways.first { $0.other == other }?.pipe.noResponders(at: now)
    }

    func timePassed(at now: UInt64) {
        for way in ways where way.pipe.deadline ?? .max <= now { way.pipe.timePassed(at: now) }
    }

    /// When it has something due; nil for never.
    var deadline: UInt64? {
        ((endsBy.map { [$0] } ?? []) + ways.compactMap { $0.pipe.deadline }).min()
    }

    /// Begins an orderly end, which the other links are told.
    func shutDown(at now: UInt64) {
        guard endsBy == nil else { return }
        endsBy = now + PipeTimes.second
        for way in ways { way.pipe.shutDown(at: now) }
    }

    /// Ends like a killed process.
    func die() {
        isOver = true
        for way in ways { way.line?.pipe.close() }
        control?.pipe.close()
        node.processes.end(pid)
    }

    // MARK: What it does then

    /// Does everything that it can do now.
    func act(at now: UInt64) {
        readControl(at: now)
        for way in ways {
            perform(way, at: now)
            writeToBroker(way, at: now)
            readFromBroker(way, at: now)
            perform(way, at: now)
        }
        guard let endsBy, now >= endsBy || control == nil || ways.allSatisfy({ $0.pipe.isOver }) else { return }
        die()
    }

    private func readControl(at now: UInt64) {
        guard control != nil else { return }
        if control!.readAnswer() { surroundings.problem("\(node.name)'s broker has refused its link") }
        if control!.isOpen, !control!.pipe.arrived.isEmpty {
            var bytes: [UInt8] = []
            control!.pipe.take { bytes = Array($0) }
            for frame in (try? input.append(bytes[...], scanner)) ?? [] {
                let other = reported.removeValue(forKey: frame.id)
                guard let way = ways.first(where: { $0.other == other }) else { continue }
                if frame.kind == .error { surroundings.problem("a bus/nodeLost was refused: \(frame.text)") }
                close(way, "", at: now)
            }
        }
        guard control!.pipe.isClosedByBroker else { return }
        control = nil
        for way in ways where way.line != nil { close(way, "the broker has ended", at: now) }
        shutDown(at: now)
    }

    private func perform(_ way: Way, at now: UInt64) {
        while let action = way.pipe.next(at: now) {
            switch action {
            case .publishControl(let message): surroundings.publish(.control(message.encoded()), way.other)
            case .publishPiece(let header, let count):
                var bytes = [UInt8](repeating: 0, count: PieceHeader.size + count)
                // because a piece has a header
                bytes.withUnsafeMutableBytes { way.pipe.writePiece(header, count: count, to: $0.baseAddress!) }
                surroundings.publish(.piece(bytes), way.other)
            case .openBroker: open(way, at: now)
            case .closeBroker(let loss): report(loss, way, at: now)
            }
        }
    }

    private func open(_ way: Way, at now: UInt64) {
        guard control != nil else { return way.pipe.brokerClosed("the broker has ended", at: now) }
        surroundings.tell("# \(node.name)'s link connects \(way.pipe.settings.other)")
        way.line = JoinedLine(
            node, pid, #"{"protocol":1,"role":"node","node":"\#(way.pipe.settings.other)","token":"\#(token)"}"#)
    }

    /// Reports a lost node, whose connection closes once the broker knows.
    private func report(_ loss: NodeLoss, _ way: Way, at now: UInt64) {
        surroundings.tell("# \(node.name)'s link has lost \(way.pipe.settings.other): \(loss.ending)")
        if isCalm { surroundings.problem("\(node.name)'s link has lost \(way.pipe.settings.other): \(loss.ending)") }
        writeToBroker(way, at: now)
        guard let control else { return close(way, "", at: now) }
        let body: JSON = [
            "node": .string(way.pipe.settings.other), "sent": .integer(Int64(loss.sent)),
            "reason": .string("\(loss.ending)"),
        ]
        reported[nextID] = way.other
        let header = #"{"kind":"call","id":\#(nextID),"to":"bus/nodeLost"}"#
        control.pipe.send(FrameBytes.frame(Array(header.utf8), body: Array(body.description.utf8)))
        nextID += 1
    }

    private func close(_ way: Way, _ why: String, at now: UInt64) {
        way.line?.pipe.close()
        way.line = nil
        if way.pipe.life != .idle, way.pipe.life != .greeting { way.pipe.brokerClosed(why, at: now) }
    }

    private func writeToBroker(_ way: Way, at now: UInt64) {
        guard let line = way.line, line.isOpen, !line.pipe.isClosedByBroker else { return }
        guard way.pipe.life.isOpen || way.pipe.life == .closing else { return }
        while way.pipe.waiting > 0, line.pipe.unread < Self.mostUnread {
            let count = way.pipe.withWaiting { first, _ in
                line.pipe.send(Array(first))
                return first.count
            }
            way.pipe.brokerTook(count, at: now)
        }
    }

    private func readFromBroker(_ way: Way, at now: UInt64) {
        guard way.line != nil else { return }
        if way.line!.readAnswer() {
            surroundings.problem("\(node.name)'s broker has refused the connection to \(way.pipe.settings.other)")
        }
        if way.line!.isOpen, way.pipe.life == .opening { way.pipe.brokerOpened(at: now) }
        let pipe = way.line!.pipe
        guard way.line!.isOpen else { return }
        while way.pipe.room > 0, !pipe.arrived.isEmpty {
            pipe.take(most: way.pipe.room) { way.pipe.brokerWrote($0) }
            perform(way, at: now)
        }
        guard pipe.isClosedByBroker, way.pipe.life != .closing, control?.pipe.isClosedByBroker == false else { return }
        surroundings.problem("\(node.name)'s broker has ended its connection to \(way.pipe.settings.other)")
    }
}
