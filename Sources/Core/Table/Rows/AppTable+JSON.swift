extension AppTable {
    /// Returns the table as JSON, with each field under its own name; nil fields are left out.
    public func json() -> JSON {
        var members: [JSON.Member] = [
            .init("app", .string(app)), .init("env", .string(env)), .init("schemes", .strings(schemes)),
            .init("levels", .strings(levels)), .init("settings", settings), .init("launchOptions", launchOptions),
            .init("calls", .string(calls.rawValue)), .init("limits", limits.tableJSON()),
            .init("startup", .count(startup)), .init("hello", .count(hello)), .init("assembly", .count(assembly)),
            .init("operators", .array(operators.map(JSON.count))),
            .init("modules", .array(modules.map { $0.json() })),
            .init("adapters", .array(adapters.map { $0.json() })),
        ]
        // Only then, because an earlier broker takes no unknown members.
        if contracts != .off { members.append(.init("contracts", .string(contracts.rawValue))) }
        if let authorizer { members.append(.init("authorizer", .string(authorizer))) }
        if let guests { members.append(.init("guests", guests.json())) }
        if !nodes.isEmpty { members.append(.init("nodes", .array(nodes.map { $0.json() }))) }
        if let node { members.append(.init("node", .string(node))) }
        if join != 0 { members.append(.init("join", .count(join))) }
        if let group { members.append(.init("group", .count(group))) }
        if let openableBy {
            let users = JSON.array(openableBy.users.map(JSON.count))
            members.append(.init("openableBy", ["users": users, "rank": .count(openableBy.rank)]))
        }
        return .object(members)
    }

    /// Reads the output of `json()`. A missing field gets its default. An unknown field, a wrong
    /// type or a rank outside the level table is an error. Names aren't checked, as the manifest's
    /// reader did that.
    public init(json: JSON) throws(AppTableError) {
        let value = TableValue(json: json, path: "")
        try value.holds([
            "app", "env", "schemes", "levels", "settings", "launchOptions", "calls", "limits", "startup", "hello",
            "assembly", "operators", "modules", "adapters", "authorizer", "guests", "group",
            "openableBy", "contracts", "nodes", "node", "join",
        ])
        self.init(app: try value.required("app").string())
        try value.read("env", into: &env) { (v) throws(AppTableError) in try v.string() }
        try value.read("schemes", into: &schemes) { (v) throws(AppTableError) in try v.strings() }
        try value.read("levels", into: &levels) { (v) throws(AppTableError) in try v.strings() }
        if levels.isEmpty { throw AppTableError(path: "levels", message: "expected at least one level") }
        if let settings = json["settings"] { self.settings = settings }
        if let launchOptions = json["launchOptions"] { self.launchOptions = launchOptions }
        try value.read("calls", into: &calls) { (v) throws(AppTableError) in try v.choice() }
        try value.read("contracts", into: &contracts) { (v) throws(AppTableError) in try v.choice() }
        try value.read("limits", into: &limits) { (v) throws(AppTableError) in try Limits(v) }
        try value.read("startup", into: &startup) { (v) throws(AppTableError) in try v.integer() }
        try value.read("hello", into: &hello) { (v) throws(AppTableError) in try v.integer() }
        try value.read("assembly", into: &assembly) { (v) throws(AppTableError) in try v.integer() }
        try value.read("operators", into: &operators) { (v) throws(AppTableError) in
            try v.list { (user) throws(AppTableError) in try user.integer() }
        }
        try value.read("authorizer", into: &authorizer) { (v) throws(AppTableError) in try v.string() }
        try value.read("group", into: &group) { (v) throws(AppTableError) in try v.integer() }
        let ranks = levels.indices
        try value.read("guests", into: &guests) { (v) throws(AppTableError) in
            try Guests(v, ranks: ranks)
        }
        try value.read("openableBy", into: &openableBy) { (v) throws(AppTableError) in
            try v.holds(["users", "rank"])
            return OpenableBy(
                users: try v.required("users").list { (user) throws(AppTableError) in try user.integer() },
                rank: try v.required("rank").rank(in: ranks))
        }
        try value.read("modules", into: &modules) { (v) throws(AppTableError) in
            try v.list { (row) throws(AppTableError) in try Row(row, ranks: ranks) }
        }
        try readNodes(value)
        try value.read("adapters", into: &adapters) { (v) throws(AppTableError) in
            try v.list { (adapter) throws(AppTableError) in try Adapter(adapter) }
        }
    }
}

extension AppTable.Guests {
    func json() -> JSON {
        var members: [JSON.Member] = [.init("rank", .count(rank)), .init("most", .count(most))]
        let users = users.sorted { $0.key < $1.key }.map { ["user": .count($0), "rank": .count($1)] as JSON }
        let names = names.sorted { $0.key < $1.key }.map { ["name": .string($0), "rank": .count($1)] as JSON }
        if !users.isEmpty { members.append(.init("users", .array(users))) }
        if !names.isEmpty { members.append(.init("names", .array(names))) }
        return .object(members)
    }

    init(_ value: TableValue, ranks: Range<Int>) throws(AppTableError) {
        try value.holds(["rank", "most", "users", "names"])
        self.init(rank: try value.required("rank").rank(in: ranks), most: try value.required("most").count())
        for user in try value.elements("users") {
            try user.holds(["user", "rank"])
            users[try user.required("user").integer()] = try user.required("rank").rank(in: ranks)
        }
        for name in try value.elements("names") {
            try name.holds(["name", "rank"])
            names[try name.required("name").string()] = try name.required("rank").rank(in: ranks)
        }
    }
}

extension TableValue {
    func rank(in ranks: Range<Int>) throws(AppTableError) -> Int {
        let rank = try count()
        guard ranks.contains(rank) else { throw expected("a level's rank, \(ranks)") }
        return rank
    }
}

extension AppTable {
    /// Throws if this table can't replace one in force. The following must not differ: the level
    /// table, the app's name, node and group that make the socket, the nodes' names, and the frame
    /// limits that hello has sent to each connection.
    public func mayFollow(_ old: AppTable) throws(BusError) {
        var fixed: [String] = []
        if app != old.app { fixed.append("app") }
        if node != old.node { fixed.append("node") }
        if nodes.map(\.name) != old.nodes.map(\.name) { fixed.append("nodes") }
        if levels != old.levels { fixed.append("levels") }
        if group != old.group { fixed.append("group") }
        if limits.frame != old.limits.frame { fixed.append("limits.frame") }
        if limits.header != old.limits.header { fixed.append("limits.header") }
        guard fixed.isEmpty else {
            throw BusError(
                .badParams,
                "\(fixed.joined(separator: " and ")) can't change while the app runs: end it with strata down, and start it anew"
            )
        }
    }
}

/// The reason why a JSON value isn't an app's table.
public struct AppTableError: Error, Equatable, CustomStringConvertible {
    /// The position in the table, such as `modules[2].level`.
    public var path: String
    /// What was expected there, and what was found.
    public var message: String

    public init(path: String, message: String) {
        self.path = path
        self.message = message
    }

    public var description: String { path.isEmpty ? message : "\(path): \(message)" }
}
