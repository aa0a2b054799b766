internal import Glibc

/// The peers of one bus, and the processes beside them.
///
/// All of them are served on the test's thread. While the test waits for one peer, the other
/// peers are read too. So played modules can answer without threads of their own.
final class PeerGroup {
    private var peers: [RawPeer] = []
    private var outputs: [ChildOutput] = []
    /// The bus in memory; nil if the peers have sockets.
    private let bus: MemoryBus?

    init(_ bus: MemoryBus? = nil) { self.bus = bus }

    func add(_ peer: RawPeer) { peers.append(peer) }
    func add(_ output: ChildOutput) { outputs.append(output) }

    /// A deadline this far in the future, by the bus's clock.
    func deadline(_ duration: Duration) -> Deadline { Deadline(duration, from: now) }

    func hasPassed(_ deadline: Deadline) -> Bool { deadline.hasPassed(at: now) }

    /// The current time by the bus's clock.
    var now: ContinuousClock.Instant { bus?.now ?? .now }

    /// Waits until input has arrived for any peer or from any process, and takes it in.
    /// - Parameter waiting: a peer that is read even if it is paused.
    /// - Returns: false if nothing came before the deadline.
    @discardableResult
    func pump(until deadline: Deadline, for waiting: RawPeer? = nil) throws -> Bool {
        let readable = peers.filter { !$0.link.isAtEnd && ($0 === waiting || !$0.isPaused) }
        if let bus {
            let ready = try bus.awaitInput(of: readable.map(\.link), until: deadline)
            for index in ready { try readable[index].readAll() }
            return !ready.isEmpty
        }
        let sockets = readable.compactMap { peer in (peer.link as? PeerSocket).map { (peer: peer, socket: $0) } }
        let open = outputs.filter { !$0.isAtEnd }
        var polled = sockets.map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0) }
        polled += open.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&polled, nfds_t(polled.count), deadline.milliseconds) > 0 else { return false }
        for (index, descriptor) in polled.enumerated() where descriptor.revents != 0 {
            if index < sockets.count {
                try sockets[index].peer.readAll()
            } else {
                open[index - sockets.count].read()
            }
        }
        return true
    }

    /// Takes in what has already arrived.
    func pumpWhatIsThere() throws {
        while try pump(until: deadline(.zero)) {}
    }

    /// Throws the first failure of a played module's script, once.
    func throwScriptFailure() throws {
        for peer in peers {
            if let failure = peer.scriptFailure {
                peer.scriptFailure = nil
                throw failure
            }
        }
    }

    /// A sentence for each script that is not at its end.
    var unfinishedScripts: [String] {
        peers.compactMap { peer in
            peer.script?.next.map { "\(peer.label) still waits for \($0)" }
        }
    }

    /// What failures say about the processes beside the peers.
    var outputText: String {
        outputs.filter { !$0.text.isEmpty }.map { "\n\($0.label) wrote:\n\($0.text)" }.joined()
    }

    func closeAll() {
        for peer in peers { peer.link.close() }
        for output in outputs { output.close() }
    }
}
