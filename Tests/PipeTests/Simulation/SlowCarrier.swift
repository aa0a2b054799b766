@testable import StrataPipe

/// Two links over a carrier that loses nothing and is slow: it carries so many bytes a second each
/// way, takes a time for each, and holds what it hasn't carried yet, as libnats and the kernel do.
///
/// One node's broker writes a stream, and the other's reads at once. Time is virtual.
final class SlowCarrier {
    /// The bytes that a link publishes before it waits for the carrier, as strata-link does.
    private static let mostHeld = 1 << 20

    private struct Way {
        /// When it has carried all that was published.
        var isFreeAt: UInt64 = 0
        var messages: [(arrivesAt: UInt64, bytes: [UInt8], isPiece: Bool)] = []
    }

    private let bytesPerSecond: UInt64
    private let latency: UInt64
    private let length: UInt64
    private(set) var now: UInt64 = PipeTimes.second
    private(set) var nodes: [SimulatedNode] = []
    private var ways = [Way(), Way()]
    private(set) var problems: [String] = []
    /// The bytes of all pieces that were published by the writing node.
    private(set) var published: UInt64 = 0
    /// The states, in order, that the writing node's link went through.
    private(set) var states: [NodeState.Word] = []

    /// - Parameters:
    ///   - latency: in milliseconds each way.
    ///   - length: the bytes that the broker writes.
    init(bytesPerSecond: UInt64, latency: UInt64, length: UInt64, window: Int = PipeSettings.defaultWindow) {
        (self.bytesPerSecond, self.latency, self.length) = (bytesPerSecond, latency * PipeTimes.millisecond, length)
        nodes = [("berlin", "tokyo"), ("tokyo", "berlin")].enumerated().map { index, names in
            SimulatedNode(
                PipeSettings(
                    me: names.0, other: names.1, link: UInt64(index) + 1, firstSession: 0x100, window: window),
                at: now)
        }
        for node in nodes { node.pipe.carrierConnected(largestMessage: 1 << 20, at: now) }
    }

    /// Runs until the other broker has read all bytes, or a problem or the time limit has come.
    /// - Returns: the seconds that it took.
    func run(seconds limit: UInt64) -> Double {
        let start = now
        while problems.isEmpty, nodes[1].read < length {
            for node in 0...1 { act(node) }
            guard now - start < limit * PipeTimes.second else {
                problems.append("only \(nodes[1].read) of \(length) bytes came in \(limit) s")
                break
            }
            moveOn()
        }
        return Double(now - start) / Double(PipeTimes.second)
    }

    /// Moves the clock to the next thing that happens.
    private func moveOn() {
        var next = UInt64.max
        for node in 0...1 {
            if let first = ways[node].messages.first { next = min(next, first.arrivesAt) }
            if let deadline = nodes[node].pipe.deadline { next = min(next, deadline) }
            if !hasRoom(node) { next = min(next, now + PipeTimes.millisecond) }
        }
        now = max(next, now + 1)
        for node in 0...1 {
            let link = nodes[node]
            while let first = ways[1 - node].messages.first, first.arrivesAt <= now {
                ways[1 - node].messages.removeFirst()
                first.bytes.withUnsafeBytes {
                    first.isPiece ? link.pipe.received(piece: $0, at: now) : link.pipe.received(control: $0, at: now)
                }
            }
            if let deadline = link.pipe.deadline, deadline <= now { link.pipe.timePassed(at: now) }
        }
    }

    private func hasRoom(_ node: Int) -> Bool {
        let left = ways[node].isFreeAt > now ? ways[node].isFreeAt - now : 0
        return left / 1_000 * bytesPerSecond / 1_000_000 < Self.mostHeld
    }

    private func act(_ node: Int) {
        let link = nodes[node]
        while true {
            link.pipe.carrierRoomChanged(hasRoom(node))
            guard let action = link.pipe.next(at: now) else { break }
            switch action {
            case .publishControl(let message): publish(message.encoded(), isPiece: false, from: node)
            case .publishPiece(let header, let count):
                var bytes = [UInt8](repeating: 0, count: PieceHeader.size + count)
                bytes.withUnsafeMutableBytes { link.pipe.writePiece(header, count: count, to: $0.baseAddress!) }
                publish(bytes, isPiece: true, from: node)
                if node == 0 { published += UInt64(count) }
            case .openBroker:
                link.isConnected = true
                link.pipe.brokerOpened(at: now)
            case .closeBroker(let loss): problems.append("\(link.name) lost the other: \(loss.ending)")
            }
            if node == 0 { writeMore() }
        }
        if node == 0 {
            writeMore()
            if states.last != link.pipe.state.word { states.append(link.pipe.state.word) }
        }
        if link.pipe.waiting > 0 { read(link) }
    }

    private func writeMore() {
        let link = nodes[0]
        guard link.isConnected else { return }
        let stream = SimulatedNode.stream(of: link.name, session: link.pipe.session)
        while case let count = min(link.pipe.room, Int(length - link.written), KnownStream.longestPart), count > 0 {
            stream.withBytes(at: link.written, count: count) { link.pipe.brokerWrote($0) }
            link.written += UInt64(count)
        }
    }

    private func read(_ link: SimulatedNode) {
        let count = link.pipe.waiting
        link.pipe.brokerTook(count, at: now)
        link.read += UInt64(count)
    }

    private func publish(_ bytes: [UInt8], isPiece: Bool, from node: Int) {
        let start = max(now, ways[node].isFreeAt)
        ways[node].isFreeAt = start + UInt64(bytes.count) * PipeTimes.second / bytesPerSecond
        ways[node].messages.append((ways[node].isFreeAt + latency, bytes, isPiece))
    }
}
