/// A peer's process and user, as they were when it connected.
public struct PeerCredentials: Sendable, Equatable {
    public var pid: Int32
    public var uid: UInt32
    public var gid: UInt32
    /// When they were asked for, in clock ticks since the machine's start.
    public var seenAt: UInt64

    public init(pid: Int32, uid: UInt32, gid: UInt32, seenAt: UInt64) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
        self.seenAt = seenAt
    }
}
