import StrataCore

/// All connections, and the list of those that need something done at the round's end.
struct ConnectionTable {
    private var peers: [UInt64: Peer] = [:]
    /// The number that the next connection gets.
    private(set) var next: UInt64 = 1
    private(set) var pools = ConnectionPools()
    /// How many connections there may be, and what sets that bound.
    private(set) var limit = ConnectionLimit()
    /// Peers with something to write.
    private(set) var dirty: [Peer] = []
    /// Closed peers. Code that handles a frame doesn't retain the peers that it finds, so each peer
    /// lives at least until its round ends.
    private(set) var closed: [Peer] = []

    init() {}

    /// Continues the numbers of the previous program's bus.
    init(next: UInt64) { self.next = next }

    subscript(number: UInt64) -> Peer? { peers[number] }

    var count: Int { peers.count }
    var isEmpty: Bool { peers.isEmpty }

    /// All connections, in any order.
    var all: some Collection<Peer> { peers.values }

    /// All connections, in the order in which they came.
    var inOrder: [Peer] { peers.values.sorted { $0.number < $1.number } }

    /// Returns a number for a peer that is no connection.
    mutating func takeNumber() -> UInt64 {
        defer { next += 1 }
        return next
    }

    mutating func add(_ peer: Peer) {
        peers[peer.number] = peer
        next = max(next, peer.number + 1)
    }

    /// Removes a connection that has closed.
    mutating func remove(_ peer: Peer) {
        closed.append(peer)
        peers[peer.number] = nil
    }

    /// Keeps a peer that is no connection until the round's end, like a closed one.
    mutating func keepUntilRoundEnds(_ peer: Peer) { closed.append(peer) }

    /// Removes and returns all connections, because another bus continues with them.
    mutating func takeAll() -> [Peer] {
        defer { peers = [:] }
        return Array(peers.values)
    }

    mutating func mayOpen(_ descriptors: Int) { limit.descriptors = descriptors }

    // MARK: Pools

    mutating func entered(_ peer: Peer) { pools.entered(peer) }
    mutating func left(_ peer: Peer) { pools.left(peer) }

    // MARK: The round's end

    /// Notes that a peer has something to write.
    @inline(__always)
    mutating func wrote(to peer: Peer) {
        guard !peer.isDirty else { return }
        peer.isDirty = true
        dirty.append(peer)
    }

    /// Clears the list of peers to write, because all of it was offered to the kernel.
    mutating func cleaned() { dirty.removeAll(keepingCapacity: true) }

    /// Frees up to `count` closed peers.
    mutating func drop(_ count: Int) { closed.removeLast(min(count, closed.count)) }
}

/// The most connections that a process may have: the manifest's limit, or what its descriptors
/// allow.
struct ConnectionLimit {
    /// Descriptors that no connection gets: the standard ones, the listener, those of the loop, the
    /// lifeline, and at times files of `/proc` and of a replacement.
    private static let kept = 32

    /// How many descriptors the process may have.
    var descriptors = Int.max

    /// - Parameter wanted: `limits.connections`.
    func most(_ wanted: Int) -> Int { min(wanted, max(1, descriptors - Self.kept)) }

    /// The number of descriptors that the connections leave. It is never less than one frame may have.
    func rest(_ wanted: Int) -> Int { max(FrameDescriptors.most, descriptors - Self.kept - most(wanted)) }

    /// The name of the limit that bounds the connections.
    func name(_ wanted: Int) -> String {
        most(wanted) < wanted ? "RLIMIT_NOFILE, \(descriptors) descriptors" : "limits.connections"
    }

    /// Why `limits.connections` can't be reached; nil if it can.
    func problem(_ wanted: Int) -> String? {
        guard most(wanted) < wanted else { return nil }
        return
            "this process may open \(descriptors) descriptors (RLIMIT_NOFILE) and keeps \(Self.kept) of them, so it "
            + "takes \(most(wanted)) connections, not the \(wanted) of limits.connections: raise ulimit -n"
    }
}
