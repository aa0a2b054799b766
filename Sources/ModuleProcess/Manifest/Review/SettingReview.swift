import StrataContracts
import StrataCore

/// Compares the values of settings with what modules declare. It finds keys that nobody declares,
/// wrong types, missing values, and secrets in the wrong place.
///
/// Nothing is known of a module that hasn't described itself. A module that declares no settings gets
/// all plain ones. No finding quotes what may be a secret.
struct SettingReview {
    private struct Key: Hashable {
        /// Nil for the whole app.
        var row: String?
        var name: String
    }

    private let manifest: Manifest
    private let descriptions: [String: ModuleDescription]
    private let rows: [String]
    private let values: [Key: [SettingValue]]
    private let sources: [Key: SecretSource]

    init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription]) {
        self.manifest = manifest
        self.descriptions = descriptions
        rows = manifest.table.modules.map(\.name)
        values = Dictionary(grouping: manifest.settings) { Key(row: $0.row, name: $0.key) }
        sources = Dictionary(manifest.secrets.map { (Key(row: $0.row, name: $0.key), $0) }) { first, _ in first }
    }

    /// The findings: first those about undeclared keys, then those of each row.
    var findings: [Finding] {
        let errors = rows.flatMap { row in
            (descriptions[row]?.settings ?? []).flatMap { findings(row, $0) }
        }
        return undeclaredForApp + undeclaredForRows + (errors + unusedSecrets).map { Finding(.error, $0) }
    }

    // MARK: Undeclared keys

    /// Values for the whole app that no module declares. They are errors only if no module gets them.
    private var undeclaredForApp: [Finding] {
        let common = manifest.settings.filter { $0.row == nil }
        guard !common.isEmpty, rows.allSatisfy({ descriptions[$0] != nil }) else { return [] }
        var owners: [String: String] = [:]
        for row in rows {
            for setting in descriptions[row]?.settings ?? [] where owners[setting.key] == nil {
                owners[setting.key] = row
            }
        }
        let takers = rows.filter { descriptions[$0]?.settings == nil }
        // An app whose modules declare nothing has no typing errors that could be known.
        guard takers.count < rows.count else { return [] }
        return common.filter { owners[$0.key] == nil }.map { value in
            let nearest = nearestNames(to: value.key, in: owners.keys.sorted()).first
            let hint = nearest.flatMap { key in
                owners[key].map { "; did you mean \(key) of \($0) (\(manifest.place(of: $0)))?" }
            }
            guard let taker = takers.first else {
                return Finding(.error, value.place.problem("no module declares \(value.key)\(hint ?? "")"))
            }
            let more = takers.count > 1 ? " and \(takers.count - 1) more" : ""
            return Finding(
                .advice,
                value.place.problem(
                    "no module declares \(value.key), so only modules that declare no settings get it: \(taker) "
                        + "(\(manifest.place(of: taker)))\(more)\(hint ?? "")"))
        }
    }

    /// Values for a row that its module doesn't declare, and doesn't get.
    private var undeclaredForRows: [Finding] {
        var declared: [String: Set<String>] = [:]
        return manifest.settings.compactMap { value in
            guard let row = value.row, let settings = descriptions[row]?.settings else { return nil }
            let keys = declared[row] ?? Set(settings.map(\.key))
            declared[row] = keys
            guard !keys.contains(value.key) else { return nil }
            return Finding(
                .error,
                value.place.problem(
                    "\(module(row)) declares no setting \(value.key)\(ManifestReview.hint(value.key, keys.sorted()))"))
        }
    }

    // MARK: Declared keys

    private func findings(_ row: String, _ setting: DeclaredSetting) -> [ManifestError] {
        let given = [nil, row].flatMap { values[Key(row: $0, name: setting.key)] ?? [] }
        let source = sources[Key(row: row, name: setting.key)]
        if setting.isRequired, given.isEmpty, source == nil {
            let cure =
                setting.isSecret ? "name its file or variable in secrets" : "give it in settings, here or in the app's"
            return [
                manifest.problem(
                    ["modules", .key(row)], "\(row) requires the setting \(setting.key), which has no value: \(cure)")
            ]
        }
        if setting.isSecret {
            return given.map { value in
                value.place.problem(
                    "\(module(row)) declares \(setting.key) as a secret, whose value never stands in a manifest: leave "
                        + "it out, and name a file or a variable in the row's secrets")
            }
        }
        return mismatches(row, setting, given)
    }

    private func mismatches(_ row: String, _ setting: DeclaredSetting, _ given: [SettingValue]) -> [ManifestError] {
        guard !given.isEmpty, let schema = setting.schema, let contract = descriptions[row]?.contracts?.module
        else { return [] }
        let checker = contract.checker(for: schema)
        return given.compactMap { value in
            guard case .refused(let mismatch) = checker.check(value.value) else { return nil }
            let place = mismatch.path == "$" ? "" : "at \(mismatch.path) "
            return value.place.problem(
                "\(module(row)) declares another type of \(setting.key): \(place)expected \(mismatch.expected), found "
                    + mismatch.found + (mismatch.hint.map { " (\($0))" } ?? ""))
        }
    }

    // MARK: Secrets

    /// Secrets of rows whose modules don't declare them as such, and so don't get them.
    private var unusedSecrets: [ManifestError] {
        manifest.secrets.compactMap { source in
            guard let description = descriptions[source.row] else { return nil }
            guard let settings = description.settings else {
                return source.place.problem(
                    "\(module(source.row)) declares no settings, so it doesn't get the secret \(source.key): declare "
                        + "it in code, as a secret")
            }
            guard let setting = settings.first(where: { $0.key == source.key }) else {
                let secrets = settings.filter(\.isSecret).map(\.key)
                return source.place.problem(
                    "\(module(source.row)) declares no secret \(source.key), so it doesn't get it"
                        + ManifestReview.hint(source.key, secrets))
            }
            guard !setting.isSecret else { return nil }
            return source.place.problem(
                "\(module(source.row)) declares \(source.key), but not as a secret, so it doesn't get it: declare it "
                    + "as one, or give a value in settings")
        }
    }

    /// Returns a module's name, and the place of its row.
    private func module(_ row: String) -> String { "\(row) (\(manifest.place(of: row)))" }
}
