internal import Glibc

/// What a process of the run knows from its environment.
public struct Membership: Sendable {
    /// The run's folder.
    public let folder: String
    public let seed: UInt64
    /// The index of the node on which it runs.
    public let node: UInt8
    public let placement: RolePlacement

    /// How long a request may take.
    public var patience: Duration { placement.patience }

    /// - Throws: if FAULTS_FOLDER isn't set.
    public init() throws(RecordError) {
        guard let folder = getenv("FAULTS_FOLDER") else { throw RecordError("FAULTS_FOLDER isn't set") }
        self.folder = String(cString: folder)
        seed = Self.number("FAULTS_SEED") ?? 1
        node = UInt8(clamping: Self.number("FAULTS_NODE") ?? 0)
        placement = RolePlacement(nodes: Int(clamping: Self.number("FAULTS_NODES") ?? 1))
    }

    /// Begins the log of this process.
    /// - Parameter replica: the number of the replica that it is; 0 for none.
    public func log(role: UInt8, replica: UInt8 = 0) throws(RecordError) -> RecordLog {
        try RecordLog(folder: folder + "/logs", role: role, node: node, replica: replica)
    }

    /// Returns the run's board, on which this process has its place.
    public func board(_ log: RecordLog) throws(RecordError) -> Board {
        let board = try Board(path: folder + "/board")
        let place = board.place(log.process)
        place.role = log.role
        place.node = node
        place.pid = getpid()
        return board
    }

    public func generator(_ log: RecordLog) -> Generator { Generator(seed &* 1_000_003 &+ UInt64(log.process)) }

    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
}
