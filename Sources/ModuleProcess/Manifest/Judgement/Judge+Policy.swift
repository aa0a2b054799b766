import StrataCore

/// The level rule and the declarations that a call needs.
extension Judge {
    func permission(
        _ caller: AppTable.Row, _ required: String, _ interface: String, _ owner: AppTable.Row,
        _ judgement: inout Judgement
    ) {
        let row = manifest.table.modules.first { $0.name == caller.name } ?? caller
        let listed = row.requires.firstIndex(of: required)
        if owner.name == caller.name {
            judgement.add("level", .free, "a module's own interfaces are always free")
            judgement.add("declaration", .free, "a module's own interfaces need none")
            return
        }
        let levels = "\(caller.name) is in \(level(caller)), \(owner.name) in \(level(owner))"
        // The second is asked apart, so that both are told at once.
        let undeclared = policy.refusal(ofCallFrom: caller.rank, to: caller.rank, isDeclared: listed != nil)
        let declaration = undeclared == .undeclared ? "add \(required) to requires of \(caller.name)" : nil
        var isRefused = false
        if policy.refusal(ofCallFrom: caller.rank, to: owner.rank, isDeclared: true) == .level {
            judgement.refuse(
                "level", .levelViolation,
                "calls: \(policy.rawValue) keeps a module from calling a later level; \(levels)",
                place(caller, "level"),
                changes: levelChanges(caller, interface, owner, and: declaration))
            isRefused = true
        } else if policy == .any {
            judgement.add(
                "level", .free,
                "calls: any lets each module call each interface; \(levels)"
                    + (LevelRule.callMayGo(from: caller.rank, to: owner.rank)
                        ? "" : ", which calls: layered would refuse (\(ErrorCode.levelViolation))"),
                policyPlace)
        } else {
            judgement.add("level", .passed, levels, place(caller, "level"))
        }
        if let declaration {
            let said = descriptions[caller.name]?.requires.contains(required) == true
            judgement.refuse(
                "declaration", .undeclared,
                "calls: declared wants \(required) in requires of \(caller.name)'s row"
                    + (said ? "; that its module declares it doesn't count" : ""), place(caller, "requires", nil),
                changes: isRefused ? [] : [declaration])
        } else if policy == .declared {
            judgement.add(
                "declaration", .passed, "\(caller.name) requires \(required)", place(caller, "requires", listed))
        } else {
            judgement.add(
                "declaration", .free,
                "calls: \(policy.rawValue) wants none" + (listed == nil ? "; its row doesn't require \(required)" : ""),
                listed == nil ? policyPlace : place(caller, "requires", listed))
        }
    }

    /// - Parameter declaration: what a call that the levels let pass needs besides.
    private func levelChanges(
        _ caller: AppTable.Row, _ interface: String, _ owner: AppTable.Row, and declaration: String?
    ) -> [String] {
        var changes =
            Self.each(
                [
                    "move \(caller.name) to \(index.level(owner)) or a later level",
                    "move \(owner.name) to \(index.level(caller)) or an earlier level",
                ], and: declaration) + ["set calls: any"]
        if let url = index.table.modules.flatMap(\.urls).first(where: { $0.to.hasPrefix("\(interface)/") }),
            let scheme = index.table.schemes.first
        {
            changes.append("open a URL, which is free: \(scheme)://\(url.host)\(url.path) leads to \(url.to)")
        } else {
            changes.append("map a URL to it in urls of \(owner.name), and open that: it is free")
        }
        changes.append("let \(caller.name) broadcast, and \(owner.name) observe")
        return changes
    }

    /// Changes, each with what is needed beside it.
    static func each(_ changes: [String], and more: String?) -> [String] {
        more.map { more in changes.map { "\($0), and \(more)" } } ?? changes
    }
}
