/// What a pipe knows from its start.
public struct PipeSettings: Equatable, Sendable {
    /// The names of both nodes. The one whose name sorts first says hello.
    public var me: String
    public var other: String
    /// The number of this process: random, and not 0.
    public var link: UInt64
    /// The number of the first session: random, from 1 to 2^62. Later ones follow it.
    public var firstSession: UInt64
    /// The most bytes that are under way each way, in bytes: a multiple of 1,024.
    public var window: Int
    /// The silence after which a session is over, in nanoseconds.
    public var lost: UInt64

    public init(
        me: String, other: String, link: UInt64, firstSession: UInt64, window: Int = defaultWindow,
        lost: UInt64 = 5 * PipeTimes.second
    ) {
        precondition(me != other, "a node has no pipe to itself")
        precondition(link != 0 && (1...1 << 62).contains(firstSession), "0 is no number")
        precondition((Self.smallestWindow...Self.largestWindow).contains(window) && window % 1_024 == 0)
        self.me = me
        self.other = other
        self.link = link
        self.firstSession = firstSession
        self.window = window
        self.lost = lost
    }

    public static let smallestWindow = 64 << 10
    public static let defaultWindow = 4 << 20
    public static let largestWindow = 32 << 20

    /// Returns the window for each of an app's nodes: the configured one, but so little that all
    /// other nodes together have at most 32 MiB under way to this one. A NATS server cuts a client
    /// off that has 64 MiB to read, and slows those down that send to it from half of that on.
    /// - Parameter nodes: the number of nodes of the app, at least 2.
    public static func window(_ configured: Int = defaultWindow, nodes: Int) -> Int {
        let share = largestWindow / max(nodes - 1, 1)
        return max(min(configured, share), smallestWindow) & ~1_023
    }

    var saysHello: Bool { me < other }
    var stalled: UInt64 { min(PipeTimes.stalled, lost / 4 * 3) }
}
