import StrataCore

/// What the link says of one node: how the way there is, for people and for metrics. Nothing is
/// decided by it.
struct LinkView: Equatable {
    enum Word: String { case never, up, stalled, lost, mismatch }

    var word: Word
    /// When it became so, in milliseconds since 1970.
    var since: Int64
    /// Why; empty if the node is up.
    var why: String
    /// The smoothed round trip in microseconds; 0 before the first.
    var roundTrip: Int64
    var unacknowledged: Int64
    var resent: Int64
    var gaps: Int64
    var sessions: Int64

    /// The longest reason, in bytes.
    static let longestReason = 1_024

    /// Reads one of the elements of `nodeState`.
    init(_ reader: MemberReader) throws(BusError) {
        let word = try reader.required("state")
        guard let known = Word(rawValue: word) else {
            throw BusError(
                .badParams, "bus/nodeState has state \"\(word)\": use never, up, stalled, lost or mismatch")
        }
        self.word = known
        why = try Self.reason(reader)
        since = try Self.count(reader, "since")
        roundTrip = try Self.count(reader, "rttMicroseconds")
        unacknowledged = try Self.count(reader, "unackedBytes")
        resent = try Self.count(reader, "resentBytes")
        gaps = try Self.count(reader, "gaps")
        sessions = try Self.count(reader, "sessions")
    }

    static func reason(_ reader: MemberReader) throws(BusError) -> String {
        let why = try reader.string("why") ?? ""
        try require(
            why.utf8.count <= longestReason, .badParams,
            "bus/nodeState has a \"why\" of \(why.utf8.count) bytes, and \(longestReason) are allowed")
        return why
    }

    private static func count(_ reader: MemberReader, _ name: String) throws(BusError) -> Int64 {
        guard let value = try reader.integer(name), value >= 0, value <= HeaderScanner.largestInteger else {
            throw BusError(.badParams, "bus/nodeState lacks \"\(name)\", an integer of 0 or more")
        }
        return value
    }
}

/// Why the link's process connects no node at all: a person must mend it.
struct LinkRefusal {
    enum Word: String {
        case unguarded
        case nameTaken = "name-taken"
    }

    var word: Word
    var why: String
    /// When it was said, in milliseconds since 1970.
    var since: Int64
}

/// `bus/nodeState`, with which the link says how it sees the nodes.
extension BusCore {
    /// Handles `nodeState {"nodes"?, "refused"?}`: all of it is taken, or nothing.
    func nodeState(_ call: BusCall) throws(BusError) -> JSON {
        let reader = try call.params()
        let elements = try reader.array("nodes") ?? []
        try require(
            elements.count <= AppTable.Node.most, .badParams,
            "bus/nodeState has \(elements.count) nodes, and an app has at most \(AppTable.Node.most)")
        var views: [(node: NodeRecord, view: LinkView)] = []
        for element in elements {
            let reader = MemberReader(element, of: "a node of bus/nodeState")
            let name = try reader.required("name")
            guard let node = nodes.find(name) else { throw BusError(.badParams, "no other node is named \(name)") }
            views.append((node, try LinkView(reader)))
        }
        if let members = try reader.object("refused") {
            let refused = MemberReader(.object(members), of: "\"refused\" of bus/nodeState")
            let word = try refused.required("state")
            guard let known = LinkRefusal.Word(rawValue: word) else {
                throw BusError(.badParams, "bus/nodeState has state \"\(word)\": use unguarded or name-taken")
            }
            let since = Int64(host.wallMicroseconds / 1_000)
            nodes.take(LinkRefusal(word: known, why: try LinkView.reason(refused), since: since))
        }
        for (node, view) in views { node.take(view) }
        return .object([])
    }

    /// Returns the state of another node for people, from what this bus and the link know.
    func state(of node: NodeRecord) -> (word: String, since: Int64, why: String) {
        let own = (word: node.life.word, since: Int64(node.since / 1_000), why: node.reason)
        switch node.life {
        case .mismatch, .joining: return own
        case .up:
            guard let view = node.view, view.word == .stalled else { return own }
            return (view.word.rawValue, view.since, view.why)
        case .never, .lost:
            if let refusal = nodes.refusal { return (refusal.word.rawValue, refusal.since, refusal.why) }
            guard let view = node.view else { return own }
            switch view.word {
            case .mismatch: return (view.word.rawValue, view.since, view.why)
            // The link may know by now why the node doesn't come back.
            case .never, .lost: return (own.word, own.since, view.why.isEmpty ? own.why : view.why)
            // Its next report, or the node's connection, is on its way.
            case .up, .stalled: return own
            }
        }
    }
}
