import StrataCore

/// Events: whether a module may emit one, and who is called for it.
extension Judge {
    /// The emitting of an event, and each module that declares it.
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
                    "a module emits what its row lists, and emits of \(module) has not \(event)\(hint(event, sender.emits))",
                    place(sender, "emits", nil), changes: ["add \(event) to emits of \(module)"])
        }
        for row in index.table.modules where descriptions[row.name]?.events.contains(event) == true {
            judgement.recipients.append(
                Judgement.Recipient(
                    module: row.name, level: index.level(row), gets: judgement.isAllowed,
                    reason: judgement.isAllowed
                        ? "it declares \(event), and is called once it is ready" : "the event is refused",
                    place: place(row)))
        }
        if judgement.recipients.isEmpty {
            judgement.changes.append([
                "let a module declare the event \(event)\(hint(event, events))" + undescribed { _ in true }
            ])
        }
        return judgement
    }

    /// The events that some module emits or declares, and the bus's own.
    public var events: [String] {
        Set(
            OwnEvents.all + manifest.table.modules.flatMap(\.emits) + descriptions.values.flatMap(\.events)
        ).sorted()
    }
}
