import StrataCore

/// Finds problems between the rows of a valid manifest: requirements that no row meets, and calls
/// or reports to a later level.
///
/// It trusts what the rows declare; `Manifest.completed(by:)` adds what their modules declare.
public struct ManifestReview {
    private let manifest: Manifest
    private let index: TableIndex
    private var table: AppTable { index.table }

    public init(_ manifest: Manifest) {
        self.manifest = manifest
        index = TableIndex(manifest.table)
    }

    /// What the bus is certain to refuse, in the order of the rows.
    public var errors: [ManifestError] {
        table.modules.flatMap { row in
            requirements(of: row) { name, owner in
                refusesLevel(.call, table.calls, from: row, to: owner.rank)
                    ? "\(name) belongs to \(owner.name) in the later level \(index.level(owner)), and calls: "
                        + "\(table.calls.rawValue) keeps \(row.name) in \(index.level(row)) from calling it; open a "
                        + "URL, or move one of them"
                    : nil
            } + row.reports.compactMap { report($0.module, by: row) }
        } + NodeReview(manifest, index).errors
    }

    /// Requirements that no row meets, in the order of the rows; empty if guests may meet them.
    /// They may still be met, because a module may bring interfaces that its row doesn't name.
    public var unmet: [ManifestError] { table.guests == nil ? unprovided("and there are no guests") : [] }

    /// What works but may not be intended: calls that only `calls: any` allows, requirements that
    /// only a guest can meet, reports that only a guest can get, adapters that are never used, URLs
    /// without a scheme, and `idle` without an effect.
    public var advice: [ManifestError] {
        var advice = table.guests == nil ? [] : unprovided("so only a guest can") + guestReports
        if table.calls == .any {
            advice += table.modules.flatMap { row in
                requirements(of: row) { name, owner in
                    !refusesLevel(.call, .layered, from: row, to: owner.rank)
                        ? nil
                        : "\(name) belongs to \(owner.name) in the later level \(index.level(owner)), and "
                            + "\(row.name) in \(index.level(row)) depends on it; calls: any allows that, and "
                            + "layered would not: open a URL, or move one of them"
                }
            }
        }
        for (place, adapter) in table.adapters.enumerated() {
            guard let owner = index.providers[adapter.name] else { continue }
            advice.append(
                manifest.problem(
                    ["adapters", .at(place)],
                    "\(owner.name) provides \(adapter.name) itself, so the adapter is never used"))
        }
        for row in table.modules where row.idle != nil && row.start != .onDemand {
            advice.append(
                manifest.problem(
                    ["modules", .key(row.name), "idle"],
                    "idle has no effect with start: \(row.start.rawValue): only a module that starts on demand is "
                        + "stopped when it is idle; set start: on-demand, or leave idle out"))
        }
        if table.schemes.isEmpty, let row = table.modules.first(where: { !$0.urls.isEmpty }) {
            advice.append(
                manifest.problem(
                    ["modules", .key(row.name), "urls"],
                    "the app has no URL scheme, so none of its URLs can be opened: list one in schemes"))
        }
        let hasPublic = table.modules.contains { $0.urls.contains(where: \.isPublic) }
        if table.openableBy == nil, let row = table.modules.first(where: { $0.urls.contains(where: \.isPublic) }) {
            advice.append(
                manifest.problem(
                    ["modules", .key(row.name), "urls"],
                    "a URL is public, and no other app may open it: name their users in openableBy, or leave public "
                        + "out"))
        } else if table.openableBy != nil, !hasPublic {
            advice.append(
                manifest.problem(
                    ["openableBy"],
                    "no URL is public, so other apps can open none: write {to: Interface/action, public: true} at one "
                        + "in urls"))
        }
        return advice
    }

    private func refusesLevel(
        _ kind: MessageKind, _ policy: AppTable.CallPolicy, from row: AppTable.Row, to rank: Int
    ) -> Bool {
        ManifestFacts(kind, policy, from: row, to: rank).verdict(.level) == .refused(.level)
    }

    private func unprovided(_ reason: String) -> [ManifestError] {
        table.modules.flatMap { row in
            row.requires.map(\.name).enumerated().filter { index.provider(of: $0.element) == nil }.map { place, name in
                manifest.problem(
                    ["modules", .key(row.name), "requires", .at(place)],
                    "no row provides \(name), \(reason)\(Self.hint(name, index.interfaces))")
            }
        }
    }

    /// Returns the objections to a row's requirements that some row meets.
    private func requirements(
        of row: AppTable.Row, _ judge: (_ name: String, _ owner: AppTable.Row) -> String?
    ) -> [ManifestError] {
        row.requires.map(\.name).enumerated().compactMap { place, name in
            guard let owner = index.provider(of: name), let message = judge(name, owner) else { return nil }
            return manifest.problem(["modules", .key(row.name), "requires", .at(place)], message)
        }
    }

    /// Returns an error if the target of a report, a row or a guest, is in a later level.
    private func report(_ target: String, by row: AppTable.Row) -> ManifestError? {
        guard let rank = index.row(target)?.rank ?? table.guests?.earliestRank(of: target),
            refusesLevel(.report, table.calls, from: row, to: rank)
        else { return nil }
        let isGuest = index.row(target) == nil
        return manifest.problem(
            ["modules", .key(row.name), "reports", .key(target)],
            "\(target) is \(isGuest ? "a guest, " : "")in the later level \(table.levels[rank]), and \(row.name) in "
                + "\(index.level(row)); reports go to the same or an earlier level: broadcast, or move one of them"
                + (isGuest ? Self.hint(target, table.modules.map(\.name)) : ""))
    }

    /// Reports that only a guest can get, and that the level rule allows.
    private var guestReports: [ManifestError] {
        let rows = table.modules.map(\.name)
        return table.modules.flatMap { row in
            row.reports.filter { index.row($0.module) == nil && report($0.module, by: row) == nil }.map { report in
                manifest.problem(
                    ["modules", .key(row.name), "reports", .key(report.module)],
                    "no row is named \(report.module), so only a guest gets these\(Self.hint(report.module, rows))"
                )
            }
        }
    }

    /// Returns the problem of actions with `auth: true` in an app without an authorizer; nil if
    /// there are no such actions.
    public static func unauthorized(_ actions: [String], of interface: String) -> String? {
        guard let first = actions.first else { return nil }
        let more = actions.count == 1 ? " has" : " and \(actions.count - 1) more have"
        return "\(interface)/\(first)\(more) auth: true, and the app has no authorizer, so each call is refused "
            + "(unauthorized): name one in authorizer"
    }

    /// Returns `; did you mean Storage?`, or nothing.
    static func hint(_ name: String, _ known: some Sequence<String>) -> String {
        nearestNames(to: name, in: known).first { $0 != name }.map { "; did you mean \($0)?" } ?? ""
    }
}

/// The review of an app before it runs, from its manifest and its modules' own descriptions.
///
/// Only a module itself knows some things, such as what it observes and which events it declares.
/// They are judged if the modules that matter have described themselves; otherwise the rows are
/// trusted.
public struct AppReview {
    /// The findings, in the order of the manifest's lines.
    public let findings: [Finding]

    /// Reviews an app.
    /// - Parameters:
    ///   - manifest: A manifest that was read without errors.
    ///   - descriptions: The modules' descriptions by row name; some may be missing.
    public init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription] = [:]) {
        let completed = manifest.completed(by: descriptions)
        let rows = ManifestReview(completed)
        let modules = DescriptionReview(manifest, descriptions)
        var findings = (rows.errors + rows.unmet + modules.errors).map { Finding(.error, $0) }
        findings += (rows.advice + modules.advice).map { Finding(.advice, $0) }
        findings += ActionReview(completed, descriptions).findings
        findings += VersionReview(manifest, index: TableIndex(completed.table), descriptions).findings
        findings += NotificationReview(completed, descriptions).findings
        findings += EventReview(completed, descriptions).findings
        findings += ContractReview(completed, descriptions).findings
        findings += SettingReview(manifest, descriptions).findings
        findings += CrossingReview(completed).findings
        self.findings = findings.inOrder
    }
}

/// One finding of a review.
public struct Finding: Sendable, Equatable, CustomStringConvertible {
    /// The consequence for the app.
    public enum Severity: String, Sendable {
        /// The bus would refuse it, or it can never work as declared.
        case error
        /// It works, but may not be intended.
        case advice
        /// It works as it says: good to know.
        case note
    }

    public var severity: Severity
    /// The position, and what was expected.
    public var problem: ManifestError

    public init(_ severity: Severity, _ problem: ManifestError) {
        self.severity = severity
        self.problem = problem
    }

    /// The text of the problem. What isn't an error has `advice: ` or `note: ` before its message.
    public var description: String {
        guard severity != .error else { return problem.description }
        var problem = problem
        problem.message = "\(severity): \(problem.message)"
        return problem.description
    }
}

extension [Finding] {
    /// The findings in the order of the manifest's files and lines; those without a line come first.
    public var inOrder: [Finding] {
        // The sort may not be stable.
        func rank(_ at: (offset: Int, element: Finding)) -> (Int, Int, Int, Int) {
            let place = at.element.problem.place
            return (place.file, place.line, place.column, at.offset)
        }
        return enumerated().sorted { rank($0) < rank($1) }.map(\.element)
    }
}
