internal import Glibc

/// The peers of one bus, and the processes beside them, all served on the
/// test's thread: while one is waited for, the others are read too, so that
/// played modules answer without threads of their own.
final class PeerGroup {
    private var peers: [RawPeer] = []
    private var outputs: [ProcessOutput] = []

    func add(_ peer: RawPeer) { peers.append(peer) }
    func add(_ output: ProcessOutput) { outputs.append(output) }

    /// Waits until something has come for somebody, and takes it in. Returns
    /// false where nothing came before the deadline.
    @discardableResult
    func pump(until deadline: Deadline, for waiting: RawPeer? = nil) throws -> Bool {
        let readable = peers.filter {
            $0.socket.descriptor >= 0 && !$0.socket.isAtEnd && ($0 === waiting || !$0.isPaused)
        }
        let open = outputs.filter { !$0.isAtEnd }
        var polled = readable.map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0) }
        polled += open.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&polled, nfds_t(polled.count), deadline.milliseconds) > 0 else { return false }
        for (index, descriptor) in polled.enumerated() where descriptor.revents != 0 {
            if index < readable.count {
                try readable[index].readAll()
            } else {
                open[index - readable.count].read()
            }
        }
        return true
    }

    /// Takes in what has come already.
    func pumpWhatIsThere() throws {
        while try pump(until: Deadline(.zero)) {}
    }

    /// The first failure of a played module's script, once.
    func throwScriptFailure() throws {
        for peer in peers {
            if let failure = peer.scriptFailure {
                peer.scriptFailure = nil
                throw failure
            }
        }
    }

    /// Scripts that are not at their end: a sentence for each.
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
        for peer in peers { peer.socket.close() }
        for output in outputs { output.close() }
    }
}
