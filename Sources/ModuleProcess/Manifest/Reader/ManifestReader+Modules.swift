import StrataCore

extension ManifestReader {
    /// Reads the rows, in the manifest's order.
    func modules(_ field: Field?, group: Field?) {
        for entry in entries(field, like: "{Storage: {run: [bin/storage]}}") {
            if !Name.isModule(entry.key) || Name.isReserved(entry.key) { expected(Self.moduleRule, key: entry) }
            var row = AppTable.Row(name: entry.key)
            var process = ModuleProcess(name: entry.key, folder: folder)
            // A row may be empty.
            let members = entry.value.node.isNull ? [:] : members(entry.value, .row)
            self.process(members, &process, &row, group: group)
            self.row(members, &row)
            replicas(members, &process, row)
            row.placement = placement(members["node"], of: entry)
            table.modules.append(row)
            processes.append(process)
        }
    }

    private func row(_ members: [String: Field], _ row: inout AppTable.Row) {
        if let rank = level(members["level"]) { row.rank = rank }
        if let priority = integer(members["priority"], Int.min...Int.max, "an integer") { row.priority = priority }
        ping(members["ping"], &row)
        for (name, field) in interfaces(members["provides"]) {
            row.provides.append(name)
            if let other = providers.updateValue(row.name, forKey: name) {
                providers[name] = other
                fail(field, "expected an interface of this row alone; \(name) is provided by \(other) too")
            }
        }
        row.wakes = notifications(members["wakes"])
        for element in row.wakes.isEmpty ? [] : elements(members["wakes"]) {
            guard case .scalar("app.moduleLost", _) = element.node.content else { continue }
            fail(element, "expected another event; app.moduleLost starts no module, because an end would cause a start")
        }
        if row.start == .onDemand, row.provides.isEmpty, row.wakes.isEmpty, let start = members["start"] {
            fail(start, "expected the key provides or wakes beside on-demand; found neither")
        }
        if row.start != .onDemand, let wakes = members["wakes"] {
            fail(wakes, "expected start: on-demand beside wakes; found start: \(row.start.rawValue)")
        }
        row.requires = required(members["requires"])
        row.contracts = choice(members["contracts"], ManifestRules.rowContracts)
        row.urls = urls(members["urls"], of: row)
        row.observes = elements(members["observes"]).compactMap(observed)
        row.broadcasts = notifications(members["broadcasts"])
        if let retained = choice(members["retained"], ManifestRules.retained) { row.retained = retained }
        for entry in entries(members["reports"], like: "{Log: [log.line]}") {
            reportTargets.append((entry.key, entry))
            row.reports.append(.init(module: entry.key, names: notifications(entry.value)))
        }
        row.emits = notifications(members["emits"])
        for (name, field) in modules(members["manages"]) {
            managedPlaces.append((row.name, name, field))
            row.manages.append(name)
        }
        row.opens = opens(members["opens"], of: row)
        settings(members, of: row)
        if let trusted = bool(members["trusted"]) { row.trusted = trusted }
        required(members, &row)
    }

    private func required(_ members: [String: Field], _ row: inout AppTable.Row) {
        guard let field = members["required"], let required = bool(field) else { return }
        row.required = required
        guard required else { return }
        if members["run"] == nil {
            fail(field, "expected the key run beside required; found none")
        } else if row.start == .onDemand || row.start == .manual {
            fail(field, "expected start: eager or async beside required; found \(row.start.rawValue)")
        }
    }

    /// Returns a list of distinct interfaces, each with its version if it has one.
    private func required(_ field: Field?) -> [RequiredInterface] {
        let required = elements(field).compactMap { element in
            text(element, Self.requiredRule) { Self.required($0) != nil }.flatMap(Self.required).map { ($0, element) }
        }
        let distinct = Set(unique(required.map { ($0.name, $1) }).map(\.field.path))
        return required.filter { distinct.contains($1.path) }.map(\.0)
    }

    /// Returns a list of distinct modules, with their positions.
    private func modules(_ field: Field?) -> [(name: String, field: Field)] {
        unique(
            elements(field).compactMap { element in
                text(element, Self.moduleRule, where: Name.isModule).map { ($0, element) }
            })
    }

    /// Reads `ping`: a time, or a mapping with every and restart.
    private func ping(_ field: Field?, _ row: inout AppTable.Row) {
        guard let field else { return }
        guard case .mapping = field.node.content else {
            row.ping = time(field, atLeast: 1)
            return
        }
        let members = members(field, .ping)
        if members["every"] == nil { fail(field, "expected the key every, a time; found none") }
        row.ping = time(members["every"], atLeast: 1)
        if let restarts = bool(members["restart"]) { row.pingRestarts = restarts }
    }

    /// Reads `replicas`: a number, or a mapping with least and most.
    private func replicas(_ members: [String: Field], _ process: inout ModuleProcess, _ row: AppTable.Row) {
        let shared = row.observes.filter(\.share)
        guard let field = members["replicas"] else {
            if !shared.isEmpty, let field = members["observes"] {
                fail(field, "expected the key replicas beside share: true; found none")
            }
            return
        }
        replicatedRows.append((row, field))
        if let both = shared.first(where: { row.wakes.contains($0.name) }), let field = members["observes"] {
            fail(field, "expected \(both.name) either in wakes or with share: true; found both")
        }
        guard case .mapping = field.node.content else {
            process.replicas = integer(field, ManifestRules.replicas).map { $0...$0 }
            return
        }
        let members = self.members(field, .replicas)
        for key in ["least", "most"] where members[key] == nil {
            fail(field, "expected least and most; \(key) is missing")
        }
        guard let least = integer(members["least"], ManifestRules.replicas),
            let most = integer(members["most"], ManifestRules.replicas)
        else { return }
        if least <= most {
            process.replicas = least...most
        } else {
            fail(field, "expected least not above most; found \(least) and \(most)")
        }
    }

    /// Checks that the authorizer has no replicas.
    func checkReplicas() {
        for (row, field) in replicatedRows {
            if let authorizer = table.authorizer, row.provides.contains(authorizer) {
                fail(field, "expected no replicas of the authorizer; \(row.name) provides \(authorizer)")
            }
        }
    }

    /// Reads an observation: a name, or a mapping with name, object, keep and share, as in hello.
    private func observed(_ field: Field) -> AppTable.Observed? {
        guard case .mapping = field.node.content else {
            return observedName(field)
        }
        let members = members(field, .observation)
        if members["name"] == nil { fail(field, "expected the key name; found none") }
        guard var observed = observedName(members["name"]) else { return nil }
        observed.object = text(members["object"])
        if let keep = choice(members["keep"], ManifestRules.keep) { observed.keep = keep }
        if let share = bool(members["share"]) { observed.share = share }
        return observed
    }

    /// Reads a name, which is a pattern if a segment of it stands for others.
    private func observedName(_ field: Field?) -> AppTable.Observed? {
        guard let field, let name = notification(field) else { return nil }
        let isPattern = NamePattern.isPattern(name)
        if isPattern, let problem = NamePattern.problem(name) { fail(field, problem) }
        return AppTable.Observed(name: name, isPattern: isPattern)
    }
}
