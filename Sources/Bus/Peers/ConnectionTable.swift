import StrataCore

/// The connections as the bus counts them, and those of them that something is to be done for
/// at the round's end.
struct ConnectionTable {
    private var peers: [UInt64: Peer] = [:]
    /// The number that the next connection gets.
    private(set) var next: UInt64 = 1
    private(set) var pools = ConnectionPools()
    /// How many connections there may be, and what bounds them.
    private(set) var limit = ConnectionLimit()
    /// Peers with something to write.
    private(set) var dirty: [Peer] = []
    /// Closed peers. Code that handles a frame doesn't retain the peers that it finds, so each one
    /// lives at least until its round ends.
    private(set) var closed: [Peer] = []

    init() {}

    /// Goes on with the numbers of another program's.
    init(next: UInt64) { self.next = next }

    subscript(number: UInt64) -> Peer? { peers[number] }

    var count: Int { peers.count }
    var isEmpty: Bool { peers.isEmpty }

    /// All, in any order.
    var all: some Collection<Peer> { peers.values }

    /// All, in the order in which they came.
    var inOrder: [Peer] { peers.values.sorted { $0.number < $1.number } }

    mutating func add(_ peer: Peer) {
        peers[peer.number] = peer
        next = max(next, peer.number + 1)
    }

    /// A connection has closed.
    mutating func remove(_ peer: Peer) {
        closed.append(peer)
        peers[peer.number] = nil
    }

    /// Another bus goes on with all of them.
    mutating func takeAll() -> [Peer] {
        defer { peers = [:] }
        return Array(peers.values)
    }

    mutating func mayOpen(_ descriptors: Int) { limit.descriptors = descriptors }

    // MARK: Pools

    mutating func entered(_ peer: Peer) { pools.entered(peer) }
    mutating func left(_ peer: Peer) { pools.left(peer) }

    // MARK: The round's end

    /// A peer has something to write.
    @inline(__always)
    mutating func wrote(to peer: Peer) {
        guard !peer.isDirty else { return }
        peer.isDirty = true
        dirty.append(peer)
    }

    /// All that was to be written was offered to the kernel.
    mutating func cleaned() { dirty.removeAll(keepingCapacity: true) }

    /// Frees up to `count` closed peers.
    mutating func drop(_ count: Int) { closed.removeLast(min(count, closed.count)) }
}

/// How many connections a process may have: as the manifest says, or as its descriptors allow.
struct ConnectionLimit {
    /// Descriptors that no connection gets: the standard ones, the listener, the loop's, the
    /// lifeline, and for a while files of `/proc` and of a replacement.
    private static let kept = 32

    /// How many descriptors the process may have.
    var descriptors = Int.max

    /// - Parameter wanted: `limits.connections`.
    func most(_ wanted: Int) -> Int { min(wanted, max(1, descriptors - Self.kept)) }

    /// What bounds the connections.
    func name(_ wanted: Int) -> String {
        most(wanted) < wanted ? "RLIMIT_NOFILE, \(descriptors) descriptors" : "limits.connections"
    }

    /// What keeps `limits.connections` from being met; nil where nothing does.
    func problem(_ wanted: Int) -> String? {
        guard most(wanted) < wanted else { return nil }
        return
            "this process may open \(descriptors) descriptors (RLIMIT_NOFILE) and keeps \(Self.kept) of them, so it "
            + "takes \(most(wanted)) connections, and not the \(wanted) of limits.connections: raise ulimit -n"
    }
}
