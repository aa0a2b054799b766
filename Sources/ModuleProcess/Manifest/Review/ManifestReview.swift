import StrataCore

/// What is wrong between the rows of a manifest that is right in itself: who
/// requires what nobody provides, and who would speak to a later level.
///
/// It takes rows at their word; `Manifest.completed(by:)` adds what their
/// modules declare.
public struct ManifestReview {
    private let manifest: Manifest
    private let index: TableIndex
    private var table: AppTable { index.table }

    public init(_ manifest: Manifest) {
        self.manifest = manifest
        index = TableIndex(manifest.table)
    }

    /// What the bus would refuse for certain, in the order of the rows.
    public var errors: [ManifestError] {
        table.modules.flatMap { row in
            requirements(of: row) { name, owner in
                refusesLevel(.call, table.calls, from: row, to: owner.rank)
                    ? "\(name) is of \(owner.name) in the later level \(index.level(owner)), which calls: "
                        + "\(table.calls.rawValue) keeps \(row.name) in \(index.level(row)) from calling; open a URL, "
                        + "or move one of them"
                    : nil
            } + row.reports.compactMap { report($0.module, by: row) }
        }
    }

    /// Requirements that no row meets, in the order of the rows; none where
    /// guests may meet them. A module may bring interfaces that its row doesn't
    /// name, so they may be met after all.
    public var unmet: [ManifestError] { table.guests == nil ? unprovided("and there are no guests") : [] }

    /// What works, and may not be meant so: calls that only `calls: any` lets
    /// pass, requirements that only a guest can meet, reports that only a guest
    /// can get, adapters that nobody passes, URLs without a scheme, `idle` where it
    /// has no effect.
    public var advice: [ManifestError] {
        var advice = table.guests == nil ? [] : unprovided("so that only a guest can") + guestReports
        if table.calls == .any {
            advice += table.modules.flatMap { row in
                requirements(of: row) { name, owner in
                    !refusesLevel(.call, .layered, from: row, to: owner.rank)
                        ? nil
                        : "\(name) is of \(owner.name) in the later level \(index.level(owner)), and \(row.name) in "
                            + "\(index.level(row)) depends on it; calls: any lets it, and layered would not: open a "
                            + "URL, or move one of them"
                }
            }
        }
        for (place, adapter) in table.adapters.enumerated() {
            guard let owner = index.providers[adapter.name] else { continue }
            advice.append(
                manifest.problem(
                    ["adapters", .at(place)],
                    "\(owner.name) provides \(adapter.name) itself, which beats the adapter: it is never used"))
        }
        for row in table.modules where row.idle != nil && row.start != .onDemand {
            advice.append(
                manifest.problem(
                    ["modules", .key(row.name), "idle"],
                    "idle has no effect with start: \(row.start.rawValue): only a module that starts on demand is stopped "
                        + "when nobody asks for it; set start: on-demand, or leave idle out"))
        }
        if table.schemes.isEmpty, let row = table.modules.first(where: { !$0.urls.isEmpty }) {
            advice.append(
                manifest.problem(
                    ["modules", .key(row.name), "urls"],
                    "the app has no URL scheme, so that none of its URLs can be opened: list one in schemes"))
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
            row.requires.enumerated().filter { index.provider(of: $0.element) == nil }.map { place, name in
                manifest.problem(
                    ["modules", .key(row.name), "requires", .at(place)],
                    "no row provides \(name), \(reason)\(Self.hint(name, index.interfaces))")
            }
        }
    }

    /// What is said against a row's requirements that some row meets.
    private func requirements(
        of row: AppTable.Row, _ judge: (_ name: String, _ owner: AppTable.Row) -> String?
    ) -> [ManifestError] {
        row.requires.enumerated().compactMap { place, name in
            guard let owner = index.provider(of: name), let message = judge(name, owner) else { return nil }
            return manifest.problem(["modules", .key(row.name), "requires", .at(place)], message)
        }
    }

    /// One whose target is in a later level: a row, or a guest.
    private func report(_ target: String, by row: AppTable.Row) -> ManifestError? {
        guard let rank = index.row(target)?.rank ?? table.guests?.rank,
            refusesLevel(.report, table.calls, from: row, to: rank)
        else { return nil }
        let isGuest = index.row(target) == nil
        return manifest.problem(
            ["modules", .key(row.name), "reports", .key(target)],
            "\(target) is \(isGuest ? "a guest, " : "")in the later level \(table.levels[rank]), and \(row.name) in "
                + "\(index.level(row)); reports go to the same or an earlier level: broadcast, or move one of them"
                + (isGuest ? Self.hint(target, table.modules.map(\.name)) : ""))
    }

    /// Reports that only a guest can get, who may.
    private var guestReports: [ManifestError] {
        let rows = table.modules.map(\.name)
        return table.modules.flatMap { row in
            row.reports.filter { index.row($0.module) == nil && report($0.module, by: row) == nil }.map { report in
                manifest.problem(
                    ["modules", .key(row.name), "reports", .key(report.module)],
                    "no row is named \(report.module), so that only a guest gets these\(Self.hint(report.module, rows))"
                )
            }
        }
    }

    /// What is to be said of actions with `auth: true` in an app without an authorizer; nil
    /// where there are none.
    public static func unauthorized(_ actions: [String], of interface: String) -> String? {
        guard let first = actions.first else { return nil }
        let more = actions.count == 1 ? " has" : " and \(actions.count - 1) more have"
        return "\(interface)/\(first)\(more) auth: true, and the app has no authorizer, so that each call is "
            + "refused (unauthorized): name one in authorizer"
    }

    /// `; did you mean Storage?`, or nothing.
    static func hint(_ name: String, _ known: some Sequence<String>) -> String {
        nearestNames(to: name, in: known).first { $0 != name }.map { "; did you mean \($0)?" } ?? ""
    }
}

/// All that can be known of an app before anything runs, from its manifest and
/// from what its modules' programs say of themselves.
///
/// What only a module can know (what it observes, which events it is called
/// for) is judged where the modules that matter have described themselves; rows
/// are taken at their word otherwise.
public struct AppReview {
    /// In the order of the manifest's lines.
    public let findings: [Finding]

    /// - Parameters:
    ///   - manifest: one that was read without errors.
    ///   - descriptions: by the row's name; some may lack one.
    public init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription] = [:]) {
        let completed = manifest.completed(by: descriptions)
        let rows = ManifestReview(completed)
        let modules = DescriptionReview(manifest, descriptions)
        var findings = (rows.errors + rows.unmet + modules.errors).map { Finding(.error, $0) }
        findings += (rows.advice + modules.advice).map { Finding(.advice, $0) }
        findings += ActionReview(completed, descriptions).findings
        findings += NotificationReview(completed, descriptions).findings
        findings += EventReview(completed, descriptions).findings
        self.findings = findings.inOrder
    }
}

/// One thing that a review has found.
public struct Finding: Sendable, Equatable, CustomStringConvertible {
    /// What it means for the app.
    public enum Severity: String, Sendable {
        /// The bus would refuse it, or it can never work as it is declared.
        case error
        /// It works, and may not be what was meant.
        case advice
    }

    public var severity: Severity
    /// Where it is, and what was expected.
    public var problem: ManifestError

    public init(_ severity: Severity, _ problem: ManifestError) {
        self.severity = severity
        self.problem = problem
    }

    /// As an error is written, with `advice: ` before the message of one.
    public var description: String {
        guard severity == .advice else { return problem.description }
        var problem = problem
        problem.message = "advice: \(problem.message)"
        return problem.description
    }
}

extension [Finding] {
    /// In the order of the manifest's lines; what concerns no line comes first.
    public var inOrder: [Finding] {
        // Not every sort keeps the order of equals.
        func rank(_ at: (offset: Int, element: Finding)) -> (Int, Int, Int) {
            (at.element.problem.line ?? 0, at.element.problem.column ?? 0, at.offset)
        }
        return enumerated().sorted { rank($0) < rank($1) }.map(\.element)
    }
}
