import StrataCore

/// What a node tells the others of itself: the rows that are ready there, and the names and patterns that are
/// observed there, each with the latest rank of its observers.
struct NodeNews: Equatable {
    var ready: Set<String> = []
    var observed: [ObservedName: Int] = [:]
}

/// A node's facts that all others must have too, or that they compare row by row.
struct NodeFacts: Equatable {
    var app = ""
    var levels: [String] = []
    var frame: UInt32 = 0
    var header: UInt32 = 0
    /// What decides where a message for a row goes, by the row's name.
    var rows: [String: Row] = [:]

    struct Row: Equatable {
        var level = ""
        /// The names of its nodes, or `all`.
        var nodes: [String] = []
        var provides: [String] = []
        /// `HOST/PATH → Interface/action`
        var urls: [String] = []
    }

    init() {}

    /// Returns this node's facts.
    init(_ table: AppTable) {
        app = table.app
        levels = table.levels
        (frame, header) = (table.limits.frame, table.limits.header)
        for row in table.modules { rows[row.replica?.row ?? row.name] = Row(row, table.levels) }
    }

    /// Says on what all nodes must agree, and these two don't; nil if they agree.
    func difference(from other: NodeFacts) -> String? {
        func differ<Value: Equatable>(_ what: String, _ own: Value, _ others: Value) -> String? {
            own == others ? nil : "\(what) is \(own) here and \(others) there"
        }
        return differ("app", app, other.app)
            ?? differ("levels", levels.joined(separator: ", "), other.levels.joined(separator: ", "))
            ?? differ("limits.frame", frame, other.frame) ?? differ("limits.header", header, other.header)
    }
}

extension NodeFacts.Row {
    init(_ row: AppTable.Row, _ levels: [String]) {
        level = levels[row.rank]
        nodes =
            switch row.placement {
            case .here: []
            case .on(let names): names.sorted()
            case .everywhere: [AppTable.Placement.all]
            }
        provides = row.provides.sorted()
        urls = row.urls.map { "\($0.host)\($0.path) → \($0.to)" }.sorted()
    }

    /// Says what differs from the same row's facts on another node; nil if nothing does.
    func difference(from other: Self?) -> String? {
        guard let other else { return "there is no such row there" }
        func differ(_ what: String, _ own: [String], _ others: [String]) -> String? {
            guard own != others else { return nil }
            let (mine, theirs) = (own.joined(separator: ", "), others.joined(separator: ", "))
            return "\(what) is \(mine.isEmpty ? "empty" : mine) here and \(theirs.isEmpty ? "empty" : theirs) there"
        }
        return differ("level", [level], [other.level]) ?? differ("node", nodes, other.nodes)
            ?? differ("provides", provides, other.provides) ?? differ("urls", urls, other.urls)
    }
}
