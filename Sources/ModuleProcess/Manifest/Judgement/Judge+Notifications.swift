import StrataCore

/// The judgement of broadcasts and reports: whether they are sent, and who gets them.
extension Judge {
    /// Judges a broadcast, and each row that observes it.
    public func broadcast(_ name: String, from module: String) -> Judgement {
        var judgement = Judgement("\(module) broadcasts \(name)")
        guard let sender = index.row(module) else { return unknownModule(module, judgement) }
        let listed = row(sender).broadcasts
        var facts = ManifestFacts(.broadcast, policy, from: sender)
        facts.isDeclared = listed.contains(name)
        let later = index.table.levels.dropFirst(sender.rank + 1)
        judgement.ask(facts) { check, verdict in
            check == .declaration
                ? declaration(verdict, facts, of: name, in: listed, "broadcasts", sender)
                : .init(
                    later.isEmpty
                        ? "\(sender.name) is in the last level, \(level(sender)): a broadcast from there reaches no "
                            + "module"
                        : "\(sender.name) is in \(level(sender)): its broadcasts go to \(later.joined(separator: ", "))",
                    place(sender, "level"))
        }
        judgement.recipients = observers(of: index.names(ofBroadcast: name, by: sender), from: sender)
        if !judgement.recipients.contains(where: \.gets) {
            judgement.changes.append(silence(name, sender, hasObservers: !judgement.recipients.isEmpty))
        }
        return judgement
    }

    /// Judges a report to one module.
    public func report(_ name: String, to target: String, from module: String) -> Judgement {
        var judgement = Judgement("\(module) reports \(name) to \(target)")
        guard let sender = index.row(module) else { return unknownModule(module, judgement) }
        let other = index.row(target)
        var facts = ManifestFacts(.report, policy, from: sender)
        guard let rank = other?.rank ?? manifest.table.guests?.rank(of: target, user: nil) else {
            facts.existence = .nobody
            judgement.add(
                .existence, facts.verdict(.existence), .init("no row names \(target)\(hint(target, modules))"))
            return judgement
        }
        let listed = row(sender).reports.first { $0.module == ReplicaName.row(of: target) }?.names ?? []
        if other == nil { facts.existence = nil }
        facts.targetRank = rank
        facts.isDeclared = listed.contains(name)
        facts.reach = other.flatMap { reach(sender, $0) }
        facts.presence = other.flatMap(presence)
        judgement.ask(facts) { check, verdict in
            switch check {
            case .existence:
                other.map { .init("\(target) is a row", place($0)) }
                    ?? .init("no row names \(target); a guest may\(hint(target, modules))")
            case .level: reportLevel(verdict, facts, name, sender, to: target, other)
            case .declaration: declaration(verdict, facts, of: name, in: listed, "reports", sender, target: target)
            case .node: other.flatMap { node(sender, $0) }
            default: other.map(running)
            }
        }
        guard let other else { return judgement }
        judgement.recipients = [recipient(name, other, judgement.isAllowed)]
        if judgement.isAllowed, judgement.recipients.allSatisfy({ !$0.gets }) {
            judgement.changes.append(["add \(name) to observes of \(target)"])
        }
        return judgement
    }

    private func reportLevel(
        _ verdict: Verdict, _ facts: ManifestFacts, _ name: String, _ sender: AppTable.Row, to target: String,
        _ other: AppTable.Row?
    ) -> Judgement.Finding {
        let level = index.table.levels[facts.targetRank]
        let changes = reportChanges(
            name, sender, to: target, level, isGuest: other == nil, isListed: facts.isDeclared)
        return .init(
            "reports go to the same or an earlier level; \(sender.name) is in \(self.level(sender)), \(target) in "
                + (other.map(self.level) ?? level), place(sender, "level"),
            changes: verdict == .passed ? [] : changes)
    }

    /// Returns the changes that make a report to a later level arrive.
    private func reportChanges(
        _ name: String, _ sender: AppTable.Row, to target: String, _ level: String, isGuest: Bool, isListed: Bool
    ) -> [String] {
        let isDeclared = policy == .declared
        let declaration = isDeclared && !isListed ? "add \(name) to \(target) to reports of \(sender.name)" : nil
        let broadcast = isDeclared ? "list it in broadcasts of \(sender.name)" : nil
        return Self.each(["broadcast it, and let \(target) observe it"], and: broadcast)
            + Self.each(
                [
                    "move \(sender.name) to \(level) or a later level",
                    "move \(isGuest ? "guests" : target) to \(index.level(sender)) or an earlier level",
                ], and: declaration)
    }

    /// Judges a notification as the module's row declares it: as a broadcast, and as a report to
    /// each declared target. An undeclared one counts as a broadcast.
    public func notification(_ name: String, from module: String) -> [Judgement] {
        let sender = index.row(module)
        let targets = sender?.reports.filter { $0.names.contains(name) }.map(\.module) ?? []
        let reports = targets.map { report(name, to: $0, from: module) }
        guard sender?.broadcasts.contains(name) == true || reports.isEmpty else { return reports }
        return [broadcast(name, from: module)] + reports
    }

    private func declaration(
        _ verdict: Verdict, _ facts: ManifestFacts, of name: String, in listed: [String], _ key: String,
        _ sender: AppTable.Row, target: String? = nil
    ) -> Judgement.Finding {
        let found = listed.firstIndex(of: name)
        let steps: [ManifestPlaces.Step] =
            ["modules", .key(sender.name), .key(key)] + (target.map { [.key($0)] } ?? [])
            + (found.map { [.at($0)] } ?? [])
        let place = manifest.problem(steps, "")
        let whom = target.map { " to \($0)" } ?? ""
        switch verdict {
        case .refused:
            return .init(
                "calls: declared needs \(name)\(whom) in \(key) of \(sender.name)'s row\(hint(name, listed))", place,
                changes: facts.verdict(.level) == .refused(.level)
                    ? [] : ["add \(name)\(whom) to \(key) of \(sender.name)"])
        case .passed: return .init("\(key) of \(sender.name) has \(name)\(whom)", place)
        case .free, .depends:
            let unlisted = found == nil ? "; its row doesn't list \(name)\(whom)" : ""
            return .init(
                "calls: \(policy.rawValue) needs none\(unlisted)", found == nil ? policyPlace : place)
        }
    }

    // MARK: Recipients

    /// Returns who observes one of a broadcast's names. A pattern takes it once.
    private func observers(of names: [String], from sender: AppTable.Row) -> [Judgement.Recipient] {
        names.enumerated().flatMap { number, name in
            index.table.modules.flatMap { row in
                row.observes.enumerated().filter { _, observed in
                    observed.isOf(name) && !(observed.isPattern && names[..<number].contains(where: observed.isOf))
                }.map { recipient($1, at: $0, in: row, from: sender) }
            }
        }
    }

    private func recipient(
        _ observed: AppTable.Observed, at place: Int, in row: AppTable.Row, from sender: AppTable.Row
    ) -> Judgement.Recipient {
        let gets = LevelRule.broadcastReaches(from: sender.rank, to: row.rank)
        let relation = row.rank == sender.rank ? "the sender's own level" : "an earlier level than the sender's"
        let whom = row.name == sender.name ? "it is the sender's own" : "it is in \(relation)"
        return Judgement.Recipient(
            module: row.name, level: index.level(row), gets: gets,
            reason: gets
                ? Self.filter(observed) + leaving(sender, row) : "\(whom), and broadcasts reach only later levels",
            place: self.place(row, "observes", place))
    }

    private func recipient(_ name: String, _ target: AppTable.Row, _ isAllowed: Bool) -> Judgement.Recipient {
        let found = target.observes.firstIndex { $0.isOf(name) }
        let isKnown = descriptions[target.name] != nil
        let reason: String
        switch (found, isAllowed) {
        case (_, false): reason = "the report is refused"
        case (let found?, true): reason = Self.filter(target.observes[found])
        case (nil, true):
            reason =
                "it doesn't observe \(name), and the answer is 0 observers"
                + (isKnown
                    ? hint(name, target.observes.map(\.name))
                    : ", unless its program does, which has not described itself")
        }
        return Judgement.Recipient(
            module: target.name, level: index.level(target), gets: isAllowed && found != nil, reason: reason,
            place: place(target, "observes", found))
    }

    private static func filter(_ observed: AppTable.Observed) -> String {
        "it observes \(observed.name)" + (observed.object.map { ", of the object \($0) only" } ?? "")
            + (observed.keep == .latest ? ", and keeps the latest" : "")
            + (observed.share ? "; one of its replicas gets it" : "")
    }

    private func silence(_ name: String, _ sender: AppTable.Row, hasObservers: Bool) -> [String] {
        var changes: [String] = []
        if hasObservers {
            changes.append("move \(sender.name) to an earlier level than its observers")
            changes.append("report it to them: reports go to the same or an earlier level")
        } else {
            let unless = undescribed {
                $0.name != sender.name && LevelRule.broadcastReaches(from: sender.rank, to: $0.rank)
            }
            changes.append("add \(name) to observes of a row of a later level\(hint(name, notifications))\(unless)")
        }
        return changes
    }
}

/// The judgement of events: whether a module may emit one, and which modules are called for it.
extension Judge {
    /// Judges the emitting of an event, and each module that declares it.
    public func emit(_ event: String, from module: String) -> Judgement {
        var judgement = Judgement("\(module) emits \(event)")
        guard let sender = index.row(module) else { return unknownModule(module, judgement) }
        let listed = sender.emits.firstIndex(of: event)
        var facts = ManifestFacts(.event, policy, from: sender)
        facts.isDeclared = listed != nil
        judgement.ask(facts) { _, verdict in
            verdict == .passed
                ? .init("emits of \(module) has \(event)", place(sender, "emits", listed))
                : .init(
                    "a module emits only what its row lists, and emits of \(module) doesn't list "
                        + "\(event)\(hint(event, sender.emits))",
                    place(sender, "emits", nil), changes: ["add \(event) to emits of \(module)"])
        }
        for row in index.table.modules where descriptions[row.name]?.events.contains(event) == true {
            let isNear = row.placement.meets(sender.placement)
            judgement.recipients.append(
                Judgement.Recipient(
                    module: row.name, level: index.level(row), gets: judgement.isAllowed && isNear,
                    reason: !judgement.isAllowed
                        ? "the event is refused"
                        : isNear
                            ? "it declares \(event), and is called once it is ready"
                            : "it is on \(row.placement), and an event stays on its node",
                    place: place(row)))
        }
        if judgement.recipients.isEmpty {
            judgement.changes.append([
                "let a module declare the event \(event)\(hint(event, events))" + undescribed { _ in true }
            ])
        }
        return judgement
    }

    /// The events that some module emits or declares, and the bus's own events.
    public var events: [String] {
        Set(
            OwnEvents.all + manifest.table.modules.flatMap(\.emits) + descriptions.values.flatMap(\.events)
        ).sorted()
    }
}
