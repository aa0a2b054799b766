import StrataContracts
import StrataCore

/// Finds notifications that never arrive: observed ones that no row sends from a level that reaches
/// the observer, and sent ones that no row observes. It also finds modules that report and should
/// broadcast instead.
struct NotificationReview {
    private let manifest: Manifest
    private let index: TableIndex
    private let descriptions: [String: ModuleDescription]
    /// The senders and targets of each reported name.
    private var reporters: [String: [Reporter]] = [:]
    /// The reported names, in alphabetical order.
    private let reportedNames: [String]
    /// The names that are observed and that no row sends.
    private let unsent: [String]
    /// The rank of the last level with a module that may observe more than its row says; -1 if
    /// there is none.
    private let lastUndescribed: Int
    private var table: AppTable { index.table }

    init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription]) {
        self.manifest = manifest
        self.descriptions = descriptions
        index = TableIndex(manifest.table)
        for row in manifest.table.modules {
            for report in row.reports {
                for name in report.names {
                    reporters[name, default: []].append(Reporter(sender: row.name, target: report.module))
                }
            }
        }
        reportedNames = reporters.keys.sorted()
        unsent = index.observedNames.subtracting(index.sentNames).sorted()
        lastUndescribed = manifest.table.modules.filter { descriptions[$0.name] == nil }.map(\.rank).max() ?? -1
    }

    private struct Reporter {
        var sender: String
        var target: String
    }

    var findings: [Finding] {
        table.modules.flatMap { (row: AppTable.Row) -> [Finding] in
            var findings: [Finding] = row.observes.enumerated().compactMap { unreached($1, at: $0, of: row) }
            findings += row.wakes.enumerated().compactMap { unwoken($1, at: $0, of: row) }
            findings += row.broadcasts.enumerated().compactMap { unheard($1, at: $0, of: row) }
            findings += row.reports.flatMap { unheard($0, of: row) }
            return findings + peers(of: row)
        }
    }

    // MARK: Observed

    private func unreached(_ observed: AppTable.Observed, at place: Int, of row: AppTable.Row) -> Finding? {
        let reporters =
            observed.isPattern
            ? reportedNames.filter(observed.isOf).flatMap { self.reporters[$0] ?? [] }
            : self.reporters[observed.name] ?? []
        guard !reporters.contains(where: { $0.target == row.name }) else { return nil }
        let sources = index.sources(of: observed)
        guard !sources.contains(where: { LevelRule.broadcastReaches(from: $0.row.rank, to: row.rank) }) else {
            return nil
        }
        // Under `declared`, a guest sends nothing. Otherwise it may broadcast from an earlier
        // level, or report from the same or a later one.
        guard table.guests == nil || table.calls == .declared else { return nil }
        let steps: [ManifestPlaces.Step] = ["modules", .key(row.name), "observes", .at(place)]
        guard let source = sources.first else {
            return Finding(.advice, manifest.problem(steps, nobodySends(observed, row, reporters)))
        }
        let called = source.adapter.map { " (as \(source.name), which the adapter \($0) renames)" } ?? ""
        let relation =
            source.row.name == row.name
            ? "\(row.name) itself"
            : "\(source.row.name) in \(Self.relation(source.row, row)) \(index.level(source.row))"
        return Finding(
            // Undeclared broadcasts may match a pattern, too.
            observed.isPattern && table.calls != .declared ? .advice : .error,
            manifest.problem(
                steps,
                "\(Self.what(observed)) is broadcast by \(relation)\(called), and broadcasts reach only later levels: \(row.name) in "
                    + "\(index.level(row)) never gets it; report it, or move one of them"))
    }

    /// An observed name, or what a pattern matches.
    private static func what(_ observed: AppTable.Observed) -> String {
        observed.isPattern ? "what \(observed.name) matches" : observed.name
    }

    private func nobodySends(_ observed: AppTable.Observed, _ row: AppTable.Row, _ reporters: [Reporter]) -> String {
        let others = reporters.map { "\($0.sender) reports it to \($0.target)" }
        let known =
            others.isEmpty
            ? Self.noPattern(observed) + ManifestReview.hint(observed.name, index.sentNames)
            : "; \(others.joined(separator: ", "))"
        return "no row broadcasts \(Self.what(observed)), or reports it to \(row.name), so only an operator sends it"
            + " (strata notify)\(undeclared(row))\(known)"
    }

    /// Finds a name in `wakes` that only a pattern of the row matches: such a name means an event.
    private func unwoken(_ name: String, at place: Int, of row: AppTable.Row) -> Finding? {
        guard !row.observes.contains(where: { $0.name == name }),
            let pattern = row.observes.first(where: { $0.isPattern && $0.isOf(name) })
        else { return nil }
        return Finding(
            .advice,
            manifest.problem(
                ["modules", .key(row.name), "wakes", .at(place)],
                "\(name) means an event here, because only the pattern \(pattern.name) observes it: name the pattern in "
                    + "wakes, or observe \(name) too"))
    }

    /// Remarks on signs that make no pattern.
    private static func noPattern(_ observed: AppTable.Observed) -> String {
        !observed.isPattern && observed.name.contains { $0 == "*" || $0 == ">" }
            ? "; * stands for a whole segment, and > for the last ones, as in storage.* and storage.>" : ""
    }

    /// Names the other possible senders of a name that no row declares.
    private func undeclared(_ row: AppTable.Row) -> String {
        guard table.calls != .declared else { return "" }
        let reach =
            row.rank == 0
            ? "no broadcast reaches \(index.level(row)), the first level"
            : "broadcasts reach \(index.level(row)) from earlier levels only"
        return ", or a module that doesn't declare it; \(reach)"
    }

    private static func relation(_ sender: AppTable.Row, _ observer: AppTable.Row) -> String {
        sender.rank == observer.rank ? "the same level" : "the later level"
    }

    // MARK: Sent

    private func unheard(_ name: String, at place: Int, of row: AppTable.Row) -> Finding? {
        // A property is there to be read, too.
        guard !isOfProperty(name, of: row) else { return nil }
        let names = index.names(ofBroadcast: name, by: row)
        let observers = names.flatMap { index.observers(of: $0) }
        let steps: [ManifestPlaces.Step] = ["modules", .key(row.name), "broadcasts", .at(place)]
        guard observers.isEmpty else {
            return unreaching(names, by: row, observers).map { Finding(.advice, manifest.problem(steps, $0)) }
        }
        if row.rank == table.levels.count - 1 {
            return Finding(
                .advice,
                manifest.problem(
                    steps,
                    "\(row.name) is in the last level, \(index.level(row)), from where a broadcast reaches no "
                        + "module: report it, or move \(row.name) to an earlier one"))
        }
        guard row.rank >= lastUndescribed, !mayHaveGuest(after: row.rank) else { return nil }
        return Finding(
            .advice,
            manifest.problem(
                steps, "no module of a level after \(index.level(row)) observes \(name)\(observedHint(name))"))
    }

    /// Whether a broadcast tells a property that the module describes.
    private func isOfProperty(_ name: String, of row: AppTable.Row) -> Bool {
        let provided = descriptions[row.name]?.contracts?.provides ?? []
        return provided.contains { $0.broadcastsOfProperties.contains { $0.name == name } }
    }

    /// Returns the advice about a broadcast that reaches none of its known observers. Nil if one of
    /// them has a finding of its own; otherwise they get the name from elsewhere, or may.
    /// - Parameter names: The broadcast's own name, then those that adapters give it.
    private func unreaching(_ names: [String], by row: AppTable.Row, _ observers: [AppTable.Row]) -> String? {
        let isTold = observers.contains { observer in
            LevelRule.broadcastReaches(from: row.rank, to: observer.rank)
                || observer.observes.enumerated().contains { place, observed in
                    names.contains(where: observed.isOf) && unreached(observed, at: place, of: observer) != nil
                }
        }
        guard !isTold, let first = observers.first else { return nil }
        return "\(first.name) in \(index.level(first)) observes \(names[0]), and broadcasts reach only later levels: "
            + "it never gets the one of \(row.name) in \(index.level(row)); report it, or move one of them"
    }

    private func mayHaveGuest(after rank: Int) -> Bool {
        table.guests.map { LevelRule.broadcastReaches(from: rank, to: $0.latestRank) } ?? false
    }

    private func unheard(_ report: AppTable.Reported, of row: AppTable.Row) -> [Finding] {
        guard let target = index.row(report.module), descriptions[target.name] != nil,
            ManifestFacts(.report, table.calls, from: row, to: target.rank).verdict(.level) == .passed
        else { return [] }
        return report.names.enumerated().compactMap { place, name in
            guard !target.observes.contains(where: { $0.isOf(name) }) else { return nil }
            return Finding(
                .advice,
                manifest.problem(
                    ["modules", .key(row.name), "reports", .key(target.name), .at(place)],
                    "\(target.name) doesn't observe \(name), so no observer gets the report"
                        + ManifestReview.hint(name, target.observes.map(\.name))))
        }
    }

    /// A similar name that is observed and never sent may be the intended one.
    private func observedHint(_ name: String) -> String {
        ManifestReview.hint(name, unsent)
    }

    // MARK: Reports to many

    private func peers(of row: AppTable.Row) -> [Finding] {
        let peers = row.reports.filter { $0.module != row.name && index.row($0.module)?.rank == row.rank }.map(\.module)
        guard let advice = LevelAdvice(row.name, rank: row.rank, level: index.level(row), declared: peers) else {
            return []
        }
        return [Finding(.advice, manifest.problem(["modules", .key(row.name), "reports"], advice.message))]
    }
}
