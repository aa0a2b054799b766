import Glibc
import StrataBus
import StrataCore
import StrataLoop
import StrataTesting

/// A broker and its peers, all on this thread. What happens is the same each time, as long as
/// nothing waits for the clock.
final class FuzzBus {
    static let places = 6

    let table: AppTable
    private let path: String
    private let loop: Loop
    private let broker: Broker
    private(set) var peers = [FuzzPeer?](repeating: nil, count: places)
    private(set) var isShuttingDown = false
    private var isStopped = false

    init(_ table: AppTable, path: String) throws {
        self.table = table
        self.path = path
        loop = try Loop()
        broker = try Broker(loop, table: table, path: path)
    }

    /// Connects a peer at a place, and closes a peer that is there.
    func connect(_ place: Int, rank: Int?) throws(FuzzFinding) -> FuzzPeer? {
        peers[place]?.close()
        peers[place] = nil
        do {
            let peer = try FuzzPeer(path: path, rank: rank, levels: table.levels)
            peers[place] = peer
            return peer
        } catch {
            // A broker that is ending no longer listens.
            try demand(isShuttingDown, "no connection was taken: \(error)")
            return nil
        }
    }

    func close(_ place: Int) {
        peers[place]?.close()
        peers[place] = nil
    }

    /// Begins the orderly end.
    func shutDown() {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        broker.shutDown { self.isStopped = true }
    }

    /// Runs one round of the loop, then lets each peer read and write.
    private func round() throws(FuzzFinding) -> Bool {
        if !isStopped { loop.runOnce() }
        var moved = false
        for peer in peers { if let peer, try peer.pump() { moved = true } }
        return moved
    }

    /// Runs rounds until nothing moves any more.
    func settle() throws(FuzzFinding) {
        var still = 0
        var rounds = 0
        while still < 3, rounds < 200 {
            still = try round() ? 0 : still + 1
            rounds += 1
        }
    }

    /// Runs rounds until a condition holds. It must hold within a time that is long for the
    /// broker.
    private func settle(until isDone: () -> Bool, _ what: String) throws(FuzzFinding) {
        var rounds = 0
        while !isDone() {
            let moved = try round()
            rounds += 1
            // A round with nothing to do ends at once, but timers need time.
            if !moved, rounds > 50 { usleep(500) }
            try demand(rounds < 4_000, "\(what) within \(rounds) rounds; left are \(broker.leftovers)")
        }
    }

    /// Closes everything, one peer last, and checks what must hold.
    func end(last place: Int) throws(FuzzFinding) {
        for other in peers.indices where other != place { close(other) }
        try settle()
        if let peer = peers[place], !isShuttingDown { try finish(peer) }
        close(place)
        try settle()
        if !isShuttingDown {
            try settle(until: { broker.leftovers.isEmpty }, "a broker without peers was not empty")
            try greetOperator()
        }
        shutDown()
        try settle(until: { isStopped }, "the broker did not end")
        for _ in 0..<3 { loop.runOnce() }
        try demand(access(path, F_OK) != 0, "the broker left its socket")
    }

    /// Checks that every request of the last peer has its final answer, once the peer has
    /// answered everything that it was asked.
    private func finish(_ peer: FuzzPeer) throws(FuzzFinding) {
        peer.isPaused = false
        peer.release()
        try settle()
        guard peer.isTame, peer.isGreeted, !peer.isEnded else { return }
        for turn in 0..<3 {
            while !peer.unanswered.isEmpty, !peer.isEnded {
                peer.answer(place: 0, isFinal: true, "reply")
                if peer.unanswered.isEmpty { try settle() }
            }
            let id = UInt64(HeaderScanner.largestInteger) - UInt64(turn)
            peer.send(Array(#"{"kind":"call","id":\#(id),"to":"bus/ping"}"#.utf8), [])
            try settle(until: { !peer.isOpen(id) || peer.isEnded }, "a ping had no answer")
        }
        guard !peer.isEnded, peer.unanswered.isEmpty else { return }
        try demand(peer.unexplained <= 0, "\(peer.unexplained) requests have no final answer")
    }

    /// Checks that a new operator is served, and that nothing of the input is left.
    private func greetOperator() throws(FuzzFinding) {
        guard let peer = try connect(0, rank: nil) else { throw FuzzFinding("there is no place for an operator") }
        peer.send(
            Array(#"{"kind":"call","id":1,"to":"bus/hello"}"#.utf8), Array(#"{"protocol":1,"role":"operator"}"#.utf8))
        try settle(until: { !peer.isOpen(1) || peer.isEnded }, "an operator's hello had no answer")
        try demand(peer.isGreeted && !peer.isEnded, "an operator was refused")
        peer.send(Array(#"{"kind":"call","id":2,"to":"bus/ping"}"#.utf8), [])
        try settle(until: { !peer.isOpen(2) || peer.isEnded }, "an operator's ping had no answer")
        close(0)
        try settle(until: { broker.leftovers.isEmpty }, "an operator left something behind")
    }
}
