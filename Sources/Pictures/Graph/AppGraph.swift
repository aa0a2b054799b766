public import StrataCore

/// An app as a picture shows it: its levels, its modules, and the messages between them.
///
/// A plain value. `AppGraph+Table.swift` makes it from an app's table; `add` includes what was seen
/// on a running bus.
public struct AppGraph: Sendable, Equatable {
    /// A module of the table, or a guest that was seen.
    public struct Module: Sendable, Equatable {
        public var name: String
        /// The rank of its level.
        public var rank: Int
        public var start = AppTable.Start.eager
        /// The interfaces that its row provides.
        public var provides: [String] = []
        /// The URLs that lead to it, as host and pattern.
        public var urls: [String] = []
        /// The frame that it is drawn in, as an index; nil without nodes, and for guests.
        public var frame: Int?
        /// Whether it has a row; false for guests.
        public var isListed = true
        /// The notifications that it broadcasts but no module observes.
        public var unheard: [String] = []

        public init(name: String, rank: Int) {
            self.name = name
            self.rank = rank
        }
    }

    /// The kind of messages from one module to another.
    public enum Kind: String, Sendable, CaseIterable {
        case call, open, broadcast, report
    }

    /// The messages of one kind and name from one module to another.
    public struct Edge: Sendable, Equatable {
        public var kind: Kind
        /// The index of the module that calls, opens, broadcasts or reports.
        public var from: Int
        /// The index of the module that it reaches.
        public var to: Int
        /// The interface under the caller's name, the URL's host and pattern, or the notification's
        /// name.
        public var name: String
        /// The name at the other end, if an adapter renames `name`.
        public var providerName: String?
        /// Whether it is declared; true for opens, which need no declaration.
        public var isDeclared = true
        /// How often it was seen; nil if no bus was watched.
        public var seen: UInt64?

        public init(kind: Kind, from: Int, to: Int, name: String, providerName: String? = nil) {
            self.kind = kind
            self.from = from
            self.to = to
            self.name = name
            self.providerName = providerName
        }
    }

    public var app: String
    /// The names of the levels, foundation first.
    public var levels: [String]
    /// What frames are drawn around the modules of: each node, and each other list of nodes that a
    /// row has. Empty if the app has no nodes.
    public var frames: [String] = []
    /// The modules in the table's order, followed by guests in a fixed order.
    public var modules: [Module] = []
    public var edges: [Edge] = []
    /// The facts that couldn't be drawn, one sentence each.
    public var remarks: [String] = []
    /// How long a bus was watched, in milliseconds; nil if none was.
    public var watched: UInt64?

    public init(app: String, levels: [String]) {
        self.app = app
        self.levels = levels
    }

    /// Returns an edge as a sentence: `Notes calls Session (as NoteLogin)`.
    public func sentence(_ edge: Edge) -> String {
        let (from, to) = (modules[edge.from].name, modules[edge.to].name)
        var text: String
        switch edge.kind {
        case .call: text = edge.name == to ? "\(from) calls \(to)" : "\(from) calls \(edge.name) of \(to)"
        case .open: text = "\(from) opens \(edge.name) of \(to)"
        case .broadcast: text = "\(from) broadcasts \(edge.name) to \(to)"
        case .report: text = "\(from) reports \(edge.name) to \(to)"
        }
        if !edge.isDeclared { text += ", undeclared" }
        if let seen = edge.seen { text += seen == 0 ? "; not seen" : "; seen \(seen) \(seen == 1 ? "time" : "times")" }
        return text
    }
}

/// Traffic that was seen on a running bus.
extension AppGraph {
    /// Adds how often each edge was seen, and the edges that are not declared.
    /// - Parameter milliseconds: how long the bus was watched.
    public mutating func add(_ traffic: SeenTraffic, watchedFor milliseconds: UInt64) {
        watched = milliseconds
        for index in edges.indices { edges[index].seen = 0 }
        for (key, count) in traffic.counts.sorted(by: { $0.key < $1.key }) {
            guard let from = index(of: key.from, traffic), let to = index(of: key.to, traffic) else { continue }
            let place = place(ofSeen: key.kind, from: from, to: to, name: key.name)
            edges[place].seen = (edges[place].seen ?? 0) + count
        }
        if traffic.missed > 0 { remarks.append("\(traffic.missed) frames were missed: the counts are too small.") }
    }

    /// Returns the place of an edge that was seen. One that the graph doesn't have is added; of these, only
    /// opens count as declared.
    mutating func place(ofSeen kind: Kind, from: Int, to: Int, name: String) -> Int {
        let known = edges.firstIndex { edge in
            edge.kind == kind && edge.from == from && edge.to == to && (edge.name == name || edge.providerName == name)
        }
        if let known { return known }
        var edge = Edge(kind: kind, from: from, to: to, name: name)
        edge.isDeclared = kind == .open
        edges.append(edge)
        return edges.count - 1
    }

    /// Returns a module's index; a module without a row is added.
    private mutating func index(of name: String, _ traffic: SeenTraffic) -> Int? {
        if let known = index(of: name) { return known }
        guard let rank = traffic.ranks[name], levels.indices.contains(rank) else { return nil }
        var guest = Module(name: name, rank: rank)
        guest.isListed = false
        modules.append(guest)
        return modules.count - 1
    }
}

extension SeenTraffic.Key: Comparable {
    static func < (one: Self, other: Self) -> Bool {
        (one.kind.rawValue, one.from, one.to, one.name) < (other.kind.rawValue, other.from, other.to, other.name)
    }
}
