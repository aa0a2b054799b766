public import StrataCore

/// An app as a picture shows it: its levels, its modules, and who speaks to whom.
///
/// A plain value. `AppGraph+Table.swift` makes it of what an app's table declares; what was seen on a
/// running bus is added to it.
public struct AppGraph: Sendable, Equatable {
    /// A module of the table, or a guest that was seen.
    public struct Module: Sendable, Equatable {
        public var name: String
        /// The rank of its level.
        public var rank: Int
        public var start = AppTable.Start.eager
        /// Interfaces that its row provides.
        public var provides: [String] = []
        /// URLs that lead to it, as host and pattern.
        public var urls: [String] = []
        /// Whether a row names it; false for guests.
        public var isListed = true
        /// What it broadcasts and no module observes.
        public var unheard: [String] = []

        public init(name: String, rank: Int) {
            self.name = name
            self.rank = rank
        }
    }

    /// How one module speaks to another.
    public enum Kind: String, Sendable, CaseIterable {
        case call, open, broadcast, report
    }

    /// One module speaks to another under one name.
    public struct Edge: Sendable, Equatable {
        public var kind: Kind
        /// Index of the module that calls, opens, broadcasts or reports.
        public var from: Int
        /// Index of the module that it reaches.
        public var to: Int
        /// The interface as the caller asks for it, the URL's host and pattern, or the
        /// notification's name.
        public var name: String
        /// What stands for `name` at the other end, where an adapter renames it.
        public var providerName: String?
        /// Opens are: they need no declaration, and there is none.
        public var isDeclared = true
        /// How often it was seen; nil where nobody watched.
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
    /// Names of the levels, foundation first.
    public var levels: [String]
    /// Of the table in its order, then guests by name.
    public var modules: [Module] = []
    public var edges: [Edge] = []
    /// What couldn't be drawn, each a sentence.
    public var remarks: [String] = []
    /// How long a bus was watched, in milliseconds; nil where none was.
    public var watched: UInt64?

    public init(app: String, levels: [String]) {
        self.app = app
        self.levels = levels
    }

    /// An edge as a sentence: `Notes calls Session (as NoteLogin)`.
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

/// What was seen on a running bus.
extension AppGraph {
    /// Adds how often each edge was seen, and the edges that nobody has declared.
    /// - Parameter milliseconds: how long the bus was watched.
    public mutating func add(_ traffic: SeenTraffic, watchedFor milliseconds: UInt64) {
        watched = milliseconds
        for index in edges.indices { edges[index].seen = 0 }
        for (key, count) in traffic.counts.sorted(by: { $0.key < $1.key }) {
            guard let from = index(of: key.from, traffic), let to = index(of: key.to, traffic) else { continue }
            let known = edges.firstIndex { edge in
                edge.kind == key.kind && edge.from == from && edge.to == to
                    && (edge.name == key.name || edge.providerName == key.name)
            }
            if let known {
                edges[known].seen = (edges[known].seen ?? 0) + count
            } else {
                var edge = Edge(kind: key.kind, from: from, to: to, name: key.name)
                edge.isDeclared = key.kind == .open
                edge.seen = count
                edges.append(edge)
            }
        }
        if traffic.missed > 0 { remarks.append("\(traffic.missed) frames were missed: the counts are too small.") }
    }

    /// A module's index; one that no row names is added.
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
