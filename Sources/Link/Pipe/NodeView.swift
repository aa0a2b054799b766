/// What a link knows of another node, as its broker is told (`bus/nodeState`).
public struct NodeView: Equatable, Sendable {
    public var state: NodeState
    /// The round trip, smoothed, in nanoseconds; 0 before the first.
    public var roundTrip: UInt64
    /// Published bytes that the other link is not known to have.
    public var unacknowledged: Int
    /// Bytes that were published again, pieces that came too early, and sessions that began.
    public var resent: UInt64
    public var gaps: UInt64
    public var sessions: UInt64

    public init(
        state: NodeState, roundTrip: UInt64 = 0, unacknowledged: Int = 0, resent: UInt64 = 0, gaps: UInt64 = 0,
        sessions: UInt64 = 0
    ) {
        (self.state, self.roundTrip, self.unacknowledged) = (state, roundTrip, unacknowledged)
        (self.resent, self.gaps, self.sessions) = (resent, gaps, sessions)
    }

    /// Whether another view is news. A round trip varies all the time, so it is only when it has
    /// changed by over a quarter.
    func differs(from told: NodeView) -> Bool {
        let change = roundTrip > told.roundTrip ? roundTrip - told.roundTrip : told.roundTrip - roundTrip
        if change > told.roundTrip / 4 { return true }
        return unacknowledged != told.unacknowledged || resent != told.resent || gaps != told.gaps
            || sessions != told.sessions || state != told.state
    }
}

extension NodePipe {
    public var view: NodeView {
        NodeView(
            state: state, roundTrip: roundTrip, unacknowledged: unacknowledged, resent: figures.resent,
            gaps: figures.gaps, sessions: figures.sessions)
    }
}

/// When a broker is told what its link knows: of a change at once, but at most once a second, and
/// never while nothing changes.
///
/// A value without I/O; times are nanoseconds on the pipes' clock.
public struct ViewReports: Sendable {
    private static let pause = PipeTimes.second

    private var told: [NodeView?]
    private var nextAt: UInt64 = 0
    /// When there is something to tell that has to wait; nil if there is nothing.
    public private(set) var deadline: UInt64?

    /// - Parameter count: the number of other nodes.
    public init(count: Int) { told = Array(repeating: nil, count: count) }

    /// Returns the places of the nodes that the broker is told of now.
    /// - Parameter view: returns the view of the node at a place.
    public mutating func take(at now: UInt64, _ view: (Int) -> NodeView) -> [Int] {
        deadline = nil
        var changed: [Int] = []
        for place in told.indices {
            let new = view(place)
            if let old = told[place], !new.differs(from: old) { continue }
            guard now >= nextAt else {
                deadline = nextAt
                return []
            }
            told[place] = new
            changed.append(place)
        }
        if !changed.isEmpty { nextAt = now + Self.pause }
        return changed
    }
}
