public import StrataCore

/// A node of the app, from `bus/nodes`.
public struct NodeRow: Sendable {
    /// The JSON from the bus.
    public let json: JSON

    init(_ json: JSON) { self.json = json }

    /// The node's name.
    public var name: String { json["name"]?.string ?? "?" }
    /// Whether it is the bus's own.
    public var isOwn: Bool { json["own"] == true }
    /// `up`, `stalled`, `lost`, `mismatch`, `unguarded`, `name-taken`, `never` or `joining`.
    public var state: String { json["state"]?.string ?? "?" }
    public var isUp: Bool { state == "up" }
    /// When it entered its state, in milliseconds since 1970.
    public var since: Int64? { json["since"]?.integer }
    /// The reason for its state; empty if there is none.
    public var reason: String { json["reason"]?.string ?? "" }
    /// The smoothed round trip between the links, in microseconds; nil if it isn't known.
    public var roundTrip: Int64? { json["rttMicroseconds"]?.integer }
    /// The bytes that the link has sent, and the other link is not known to have.
    public var unacknowledged: Int64? { json["unackedBytes"]?.integer }
    /// The bytes that the link has sent again.
    public var resent: Int64? { json["resentBytes"]?.integer }
    /// How often bytes were missing before what arrived.
    public var gaps: Int64? { json["gaps"]?.integer }
    /// The sessions with the node since the link's start.
    public var sessions: Int64? { json["sessions"]?.integer }
    /// What differs in rows that both nodes have.
    public var differences: [String] { json["rowsThatDiffer"]?.array?.compactMap(\.string) ?? [] }
}

extension [NodeRow] {
    /// Reads the nodes from the answer of `bus/nodes`.
    public init(_ answer: JSON) { self = (answer["nodes"]?.array ?? []).map(NodeRow.init) }
}
