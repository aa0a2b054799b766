/// What the link of an app with nodes needs: the manifest's `federation`, and the files of single
/// nodes. The broker needs `join` alone, which its table has too.
public struct Federation: Sendable, Equatable {
    /// The files with which a node proves who it is, as absolute paths.
    public struct Files: Sendable, Equatable {
        /// The node's seed.
        public var key: String?
        /// The certificates of who may have signed the servers' ones.
        public var ca: String?
        public init(key: String? = nil, ca: String? = nil) {
            self.key = key
            self.ca = ca
        }
    }

    /// The URLs of the NATS servers; may be empty for a single node, or if all nodes are started on
    /// one machine.
    public var servers: [String] = []
    /// The files of nodes that name none of their own.
    public var files = Files()
    /// The files that nodes name themselves, by node.
    public var ownFiles: [String: Files] = [:]
    /// The bytes under way to one node that it hasn't acknowledged, at most.
    public var window = 4 << 20
    /// How long a node may be silent until it is lost, in milliseconds.
    public var lost: UInt64 = 5_000
    /// How long a request waits for a node that has not joined since the start, in milliseconds.
    public var join: UInt64 = 10_000
    /// Whether servers are used that don't keep one node from speaking as another.
    public var unguarded = false
    /// The user that the link runs as; nil for the launcher's.
    public var user: UInt32?

    public init() {}

    /// Returns the files of a node: its own, and what it doesn't name of the common ones.
    public func files(of node: String) -> Files {
        let own = ownFiles[node] ?? Files()
        return Files(key: own.key ?? files.key, ca: own.ca ?? files.ca)
    }
}
