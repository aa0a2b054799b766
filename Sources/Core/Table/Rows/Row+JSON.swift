extension AppTable.Row {
    func json() -> JSON {
        var members: [JSON.Member] = [
            .init("name", .string(name)), .init("rank", .count(rank)), .init("priority", .count(priority)),
            .init("start", .string(start.rawValue)), .init("restart", .string(restart.rawValue)),
            .init("replace", .string(replace.rawValue)), .init("stop", .count(stop)),
            .init("provides", .strings(provides)), .init("requires", .strings(requires.map(\.description))),
            .init("urls", .array(urls.map { $0.json() })), .init("observes", .array(observes.map { $0.json() })),
            .init("broadcasts", .strings(broadcasts)), .init("reports", .array(reports.map { $0.json() })),
            .init("emits", .strings(emits)), .init("trusted", .bool(trusted)),
            .init("backoffReset", .count(backoffReset)),
        ]
        if let idle { members.append(.init("idle", .count(idle))) }
        if let ping { members.append(.init("ping", .count(ping))) }
        if !pingRestarts { members.append(.init("pingRestarts", false)) }
        if let user { members.append(.init("user", .count(user))) }
        if !manages.isEmpty { members.append(.init("manages", .strings(manages))) }
        if required { members.append(.init("required", .bool(true))) }
        if !wakes.isEmpty { members.append(.init("wakes", .strings(wakes))) }
        if let contracts { members.append(.init("contracts", .string(contracts.rawValue))) }
        if !settings.isEmpty { members.append(.init("settings", .object(settings))) }
        if !secrets.isEmpty {
            members.append(.init("secrets", .object(secrets.map { .init($0.key, .string($0.value)) })))
        }
        if !opens.isEmpty { members.append(.init("opens", .array(opens.map { $0.json() }))) }
        if retained != .session { members.append(.init("retained", .string(retained.rawValue))) }
        if replica != nil { members.append(.init("replica", true)) }
        if let placement = placement.json() { members.append(.init("placement", placement)) }
        return .object(members)
    }

    init(_ value: TableValue, ranks: Range<Int>) throws(AppTableError) {
        try value.holds([
            "name", "rank", "priority", "start", "restart", "replace", "stop", "provides", "requires", "urls",
            "observes", "broadcasts", "reports", "emits", "trusted", "idle", "ping", "pingRestarts", "user",
            "backoffReset", "manages", "required", "wakes", "opens", "contracts", "settings", "secrets",
            "placement", "retained", "replica",
        ])
        self.init(name: try value.required("name").string())
        try value.read("rank", into: &rank) { (v) throws(AppTableError) in try v.rank(in: ranks) }
        try value.read("priority", into: &priority) { (v) throws(AppTableError) in try v.integer() }
        try value.read("start", into: &start) { (v) throws(AppTableError) in try v.choice() }
        try value.read("restart", into: &restart) { (v) throws(AppTableError) in try v.choice() }
        try value.read("replace", into: &replace) { (v) throws(AppTableError) in try v.choice() }
        try value.read("stop", into: &stop) { (v) throws(AppTableError) in try v.integer() }
        try value.read("idle", into: &idle) { (v) throws(AppTableError) in try v.integer() }
        try value.read("ping", into: &ping) { (v) throws(AppTableError) in try v.integer() }
        try value.read("pingRestarts", into: &pingRestarts) { (v) throws(AppTableError) in try v.bool() }
        try value.read("user", into: &user) { (v) throws(AppTableError) in try v.integer() }
        try value.read("backoffReset", into: &backoffReset) { (v) throws(AppTableError) in try v.integer() }
        try value.read("provides", into: &provides) { (v) throws(AppTableError) in try v.strings() }
        try value.read("requires", into: &requires) { (v) throws(AppTableError) in
            try v.list { (required) throws(AppTableError) in
                guard let known = RequiredInterface(canonical: try required.string()) else {
                    throw required.expected("an interface, as in Storage or Storage@2.1")
                }
                return known
            }
        }
        try value.read("contracts", into: &contracts) { (v) throws(AppTableError) in try v.choice() }
        try value.read("urls", into: &urls) { (v) throws(AppTableError) in
            try v.list { (url) throws(AppTableError) in try AppTable.URLMapping(url) }
        }
        try value.read("observes", into: &observes) { (v) throws(AppTableError) in
            try v.list { (observed) throws(AppTableError) in try AppTable.Observed(observed) }
        }
        try value.read("broadcasts", into: &broadcasts) { (v) throws(AppTableError) in try v.strings() }
        try value.read("retained", into: &retained) { (v) throws(AppTableError) in try v.choice() }
        try value.read("reports", into: &reports) { (v) throws(AppTableError) in
            try v.list { (reported) throws(AppTableError) in try AppTable.Reported(reported) }
        }
        var isReplica = false
        try value.read("replica", into: &isReplica) { (v) throws(AppTableError) in try v.bool() }
        if isReplica {
            guard let replica = ReplicaName(name) else {
                throw try value.required("name").expected("a replica's name, as in Worker~2")
            }
            self.replica = replica
        }
        try value.read("emits", into: &emits) { (v) throws(AppTableError) in try v.strings() }
        try value.read("manages", into: &manages) { (v) throws(AppTableError) in try v.strings() }
        try value.read("wakes", into: &wakes) { (v) throws(AppTableError) in try v.strings() }
        try value.read("trusted", into: &trusted) { (v) throws(AppTableError) in try v.bool() }
        try value.read("required", into: &required) { (v) throws(AppTableError) in try v.bool() }
        try value.read("settings", into: &settings) { (v) throws(AppTableError) in try v.members() }
        try value.read("secrets", into: &secrets) { (v) throws(AppTableError) in try v.secrets() }
        try value.read("opens", into: &opens) { (v) throws(AppTableError) in
            try v.list { (opened) throws(AppTableError) in try AppTable.Opened(opened) }
        }
        try value.read("placement", into: &placement) { (v) throws(AppTableError) in try AppTable.Placement(v) }
    }
}

extension AppTable.URLMapping {
    func json() -> JSON {
        var members: [JSON.Member] = [
            .init("host", .string(host)), .init("path", .string(path)), .init("to", .string(to)),
        ]
        if isPublic { members.append(.init("public", true)) }
        return .object(members)
    }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["host", "path", "to", "public"])
        self.init(
            host: try value.required("host").string(), path: try value.required("path").string(),
            to: try value.required("to").string())
        try value.read("public", into: &isPublic) { (v) throws(AppTableError) in try v.bool() }
    }
}

extension AppTable.Observed {
    func json() -> JSON {
        var members: [JSON.Member] = [.init("name", .string(name)), .init("keep", .string(keep.rawValue))]
        if let object { members.append(.init("object", .string(object))) }
        if isPattern { members.append(.init("isPattern", true)) }
        if share { members.append(.init("share", true)) }
        return .object(members)
    }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["name", "object", "keep", "isPattern", "share"])
        self.init(name: try value.required("name").string())
        try value.read("isPattern", into: &isPattern) { (v) throws(AppTableError) in try v.bool() }
        if isPattern, let problem = NamePattern.problem(name) {
            throw AppTableError(path: value.path, message: problem)
        }
        try value.read("object", into: &object) { (v) throws(AppTableError) in try v.string() }
        try value.read("share", into: &share) { (v) throws(AppTableError) in try v.bool() }
        try value.read("keep", into: &keep) { (v) throws(AppTableError) in try v.choice() }
    }
}

extension AppTable.Reported {
    func json() -> JSON { ["module": .string(module), "names": .strings(names)] }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["module", "names"])
        self.init(module: try value.required("module").string(), names: try value.required("names").strings())
    }
}
