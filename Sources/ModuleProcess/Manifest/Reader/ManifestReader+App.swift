import StrataCore

extension ManifestReader {
    /// Reads the whole manifest. Levels, the group and the nodes come first, because rows
    /// refer to them.
    func app(_ root: Field, environment: [String: String]) {
        guard case .mapping = root.node.content else { return expected("a mapping with app and modules", root) }
        let members = members(root, .app)
        let name = text(members["app"], "1 to 32 of a-z, 0-9 and -", where: Name.isApp)
        if let name { table.app = name }
        if members["app"] == nil {
            fail(
                "app", root.node.line, nil,
                "expected the key app, the app's name; found none")
        }
        env(members["env"], environment)
        schemes(members["schemes"])
        levels(members["levels"])
        settings(members["settings"])
        if let field = members["launchOptions"], let json = json(field) { table.launchOptions = json }
        if let calls = choice(members["calls"], ManifestRules.calls) { table.calls = calls }
        if let contracts = choice(members["contracts"], ManifestRules.contracts) { table.contracts = contracts }
        guests(members["guests"])
        group(members["group"])
        operators(members["operators"], group: members["group"])
        openableBy(members["openableBy"])
        limits(members["limits"])
        if let time = time(members["startup"], atLeast: 1) { table.startup = time }
        if let time = time(members["hello"], atLeast: 1) { table.hello = time }
        if let time = time(members["assembly"], atLeast: 1) { table.assembly = time }
        nodes(members["nodes"])
        federation(members["federation"], group: members["group"])
        modules(members["modules"], group: members["group"])
        authorizer(members["authorizer"])
        checkReplicas()
        reports()
        managed()
        guestNames()
        adapters(members["adapters"])
    }

    private static func isWord(_ word: String) -> Bool {
        (1...64).contains(word.utf8.count) && word.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    private func env(_ field: Field?, _ environment: [String: String]) {
        if let word = text(field, "a word", where: Self.isWord) { table.env = word }
        guard let word = environment["STRATA_ENV"], !word.isEmpty else { return }
        if Self.isWord(word) {
            table.env = word
        } else {
            fail("env", nil, nil, "expected a word in STRATA_ENV; found \(JSON.string(word))")
        }
    }

    /// Reads the schemes by RFC 3986, section 3.1, and keeps them in lower case.
    private func schemes(_ field: Field?) {
        let names = elements(field).compactMap { element in
            text(element, Self.schemeRule, where: Self.isScheme).map { ($0.lowercased(), element) }
        }
        table.schemes = unique(names).map(\.name)
    }

    static let schemeRule = "a URL scheme ([A-Za-z][A-Za-z0-9+.-]*)"

    static func isScheme(_ scheme: String) -> Bool {
        guard let first = scheme.utf8.first, scheme.utf8.count <= 64 else { return false }
        return scheme.utf8.allSatisfy { $0 < 0x80 } && Character(Unicode.Scalar(first)).isLetter
            && scheme.allSatisfy { $0.isLetter || $0.isNumber || "+.-".contains($0) }
    }

    private func levels(_ field: Field?) {
        guard let field else { return }
        let names = elements(field).compactMap { element in
            text(element, "a level's name ([A-Za-z][A-Za-z0-9._-]{0,63})", where: Name.isModule).map { ($0, element) }
        }
        let levels = unique(names).map(\.name)
        if case .sequence(let nodes) = field.node.content, nodes.isEmpty { expected("at least one level", field) }
        if !levels.isEmpty { table.levels = levels }
    }

    private func guests(_ field: Field?) {
        guard let field else { return }
        let members = members(field, .guests)
        for key in ["level", "most"] where members[key] == nil {
            fail(field, "expected level and most; \(key) is missing")
        }
        if let rank = level(members["level"]), let most = integer(members["most"], ManifestRules.guests) {
            var guests = AppTable.Guests(rank: rank, most: most)
            users(members["users"], &guests)
            names(members["names"], &guests)
            table.guests = guests
        }
    }

    private func users(_ field: Field?, _ guests: inout AppTable.Guests) {
        for entry in entries(field, like: "{ada: middle}") {
            guard let user = Accounts.user(named: entry.key) else {
                expected("a user of this system", key: entry)
                continue
            }
            guard let rank = level(entry.value) else { continue }
            if guests.users.updateValue(rank, forKey: user) != nil {
                fail(key: entry, "expected each user once; another key names user \(user) too")
            }
        }
    }

    private func names(_ field: Field?, _ guests: inout AppTable.Guests) {
        for entry in entries(field, like: "{Probe: topout}") {
            guestNameKeys.append(entry)
            if !Name.isModule(entry.key) || Name.isReserved(entry.key) { expected(Self.moduleRule, key: entry) }
            guard let rank = level(entry.value) else { continue }
            let earliest = guests.earliestRank(of: entry.key)
            guests.names[entry.key] = rank
            if rank < earliest {
                fail(
                    entry.value,
                    "expected \(table.levels[earliest]) or a later level, because a name can only narrow a guest's "
                        + "level; found \(table.levels[rank]): name the user in users")
            }
        }
    }

    private func group(_ field: Field?) {
        guard let field, let name = text(field, "a group's name") else { return }
        table.group = Accounts.group(named: name)
        if table.group == nil { expected("a group of this system", field) }
    }

    private func operators(_ field: Field?, group: Field?) {
        for element in elements(field) {
            guard let user = user(element), !table.operators.contains(user) else { continue }
            table.operators.append(user)
        }
        if let field, group == nil, case .sequence(let nodes) = field.node.content, !nodes.isEmpty {
            fail(field, "expected the key group beside operators; found none")
        }
    }

    /// Reads who may open public URLs from other apps.
    private func openableBy(_ field: Field?) {
        guard let field else { return }
        let members = members(field, .openableBy)
        for key in ["users", "level"] where members[key] == nil {
            fail(field, "expected users and level; \(key) is missing")
        }
        var users: [UInt32] = []
        for element in elements(members["users"]) {
            if let user = user(element), !users.contains(user) { users.append(user) }
        }
        if let list = members["users"], case .sequence(let nodes) = list.node.content, nodes.isEmpty {
            expected("at least one user", list)
        }
        if let rank = level(members["level"]) { table.openableBy = .init(users: users, rank: rank) }
    }

    /// Returns a user's id.
    func user(_ field: Field?) -> UInt32? {
        guard let field, let name = text(field, "a user's name") else { return nil }
        guard let user = Accounts.user(named: name) else {
            expected("a user of this system", field)
            return nil
        }
        return user
    }

    private func authorizer(_ field: Field?) {
        guard let field, let name = interface(field) else { return }
        table.authorizer = name
        if providers[name] == nil { expected("an interface that a row provides", field, among: providers.keys) }
    }

    /// Checks that guests' levels are given for names that no row has.
    private func guestNames() {
        let rows = Set(table.modules.map(\.name))
        for entry in guestNameKeys where rows.contains(entry.key) {
            fail(key: entry, "expected a name that no row has; \(entry.key) is a row, which has a level of its own")
        }
    }

    /// Checks that what rows manage are other rows.
    private func managed() {
        let rows = table.modules.map(\.name)
        for (manager, name, field) in managedPlaces {
            if name == manager {
                fail(field, "expected another row; a module can't manage itself")
            } else if !rows.contains(name) {
                expected("a row of this manifest", field, among: rows)
            }
        }
    }

    /// Checks that reports go to rows, or to guests if the manifest allows them.
    private func reports() {
        let rows = table.modules.map(\.name)
        for (name, place) in reportTargets where !rows.contains(name) {
            guard table.guests == nil || !Name.isModule(name) || Name.isReserved(name) else { continue }
            let near = ManifestReview.hint(name, rows)
            fail(key: place, "expected a module of this manifest; found \(JSON.string(name))\(near)")
        }
    }
}

extension ManifestReader {
    /// Reads the app's limits.
    func limits(_ field: Field?) {
        guard let field else { return }
        let members = members(field, .limits)
        for key in LimitKey.all {
            let value = key.isSize ? size(members[key.name], key.range) : integer(members[key.name], key.range)
            if let value { table.limits[keyPath: key.limit] = value }
        }
        if table.limits.header > table.limits.frame - 4 {
            fail(
                members["frame"] ?? members["header"] ?? field,
                "expected a frame with room for a header; found \(table.limits.frame) bytes for \(table.limits.header)")
        }
    }
}
