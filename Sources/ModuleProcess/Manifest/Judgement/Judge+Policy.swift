import StrataCore

/// The level rule, and the declarations that a call needs.
extension Judge {
    func level(
        _ verdict: Verdict, _ facts: ManifestFacts, _ caller: AppTable.Row, _ interface: String,
        _ owner: AppTable.Row, required: String
    ) -> Judgement.Finding {
        guard !facts.isOwn else { return .init("a module's own interfaces are always free") }
        let levels = "\(caller.name) is in \(level(caller)), \(owner.name) in \(level(owner))"
        switch verdict {
        case .refused:
            let isUndeclared = facts.verdict(.declaration) == .refused(.undeclared)
            return .init(
                "calls: \(policy.rawValue) keeps a module from calling a later level; \(levels)",
                place(caller, "level"),
                changes: levelChanges(
                    caller, interface, owner, and: isUndeclared ? Self.declaring(required, by: caller) : nil))
        case .free, .depends:
            var layered = facts
            layered.policy = .layered
            return .init(
                "calls: any lets each module call each interface; \(levels)"
                    + (layered.verdict(.level) == .passed
                        ? "" : ", which calls: layered would refuse (\(ErrorCode.levelViolation))"),
                policyPlace)
        case .passed: return .init(levels, place(caller, "level"))
        }
    }

    func declaration(
        _ verdict: Verdict, _ facts: ManifestFacts, _ caller: AppTable.Row, required: String
    ) -> Judgement.Finding {
        guard !facts.isOwn else { return .init("a module's own interfaces need none") }
        let listed = row(caller).requires.firstIndex { $0.name == required }
        switch verdict {
        case .refused:
            let said = descriptions[caller.name]?.requires.contains { $0.name == required } == true
            return .init(
                "calls: declared needs \(required) in requires of \(caller.name)'s row"
                    + (said ? "; its module's own declaration doesn't count" : ""), place(caller, "requires", nil),
                changes: facts.verdict(.level) == .refused(.level) ? [] : [Self.declaring(required, by: caller)])
        case .passed: return .init("\(caller.name) requires \(required)", place(caller, "requires", listed))
        case .free, .depends:
            return .init(
                "calls: \(policy.rawValue) needs none" + (listed == nil ? "; its row doesn't require \(required)" : ""),
                listed == nil ? policyPlace : place(caller, "requires", listed))
        }
    }

    private static func declaring(_ interface: String, by caller: AppTable.Row) -> String {
        "add \(interface) to requires of \(caller.name)"
    }

    /// Returns the changes that bring a call past the level rule.
    /// - Parameter declaration: The declaration that the call needs as well; nil if it needs none.
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

    /// Returns the changes, each combined with what is also needed.
    static func each(_ changes: [String], and more: String?) -> [String] {
        more.map { more in changes.map { "\($0), and \(more)" } } ?? changes
    }
}
