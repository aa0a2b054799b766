public import StrataCore

/// One setting as tools show it: the value that a module gets, and where that is from. It never has
/// a secret's value.
public struct ShownSetting: Sendable, Equatable {
    /// What is known of the module's declaration.
    public enum Declaration: Sendable, Equatable {
        case declared(DeclaredSetting)
        /// The module declares other settings or none.
        case undeclared
        /// The module hasn't described itself.
        case unknown
    }

    /// Nil for a value of the whole app that no module gets.
    public var module: String?
    public var key: String
    public var declaration: Declaration
    /// The value, `‹secret›` for a secret; nil if there is none.
    public var value: JSON?
    /// What the value is from: a layer, `default` or `secrets`; nil if there is none.
    public var layer: String?
    /// Where it stands; nil for a default.
    public var place: SettingPlace?
}

/// An app's settings, as far as they are known without running it.
public struct ShownSettings {
    private let manifest: Manifest
    private let descriptions: [String: ModuleDescription]
    /// The keys that some module declares as a secret. No value of theirs is shown, wherever it stands.
    private let secretKeys: Set<String>

    /// - Parameter descriptions: The modules' descriptions by row name; some may be missing.
    public init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription]) {
        self.manifest = manifest
        self.descriptions = descriptions
        let declared = descriptions.values.flatMap { $0.settings ?? [] }.filter(\.isSecret).map(\.key)
        secretKeys = Set(declared + manifest.secrets.map(\.key))
    }

    /// Returns the settings of a row's module: first the declared ones, in their order, then the
    /// manifest's other values for it.
    public func settings(of row: String) -> [ShownSetting] {
        let given = manifest.values(of: row).map { shown($0, row) }
        let secrets = manifest.secrets.filter { $0.row == row }.map { source in
            ShownSetting(
                module: row, key: source.key, declaration: .undeclared, value: .string(AppTable.Secret.hidden),
                layer: "secrets", place: source.place)
        }
        guard let description = descriptions[row] else {
            return (given + secrets).map { setting in
                var setting = setting
                setting.declaration = .unknown
                return setting
            }
        }
        guard let declared = description.settings else { return given + secrets }
        let known = Dictionary((secrets + given).map { ($0.key, $0) }) { first, _ in first }
        let keys = Set(declared.map(\.key))
        let own = Set(manifest.settings.filter { $0.row == row }.map(\.key) + secrets.map(\.key))
        return declared.map { setting in
            var shown = known[setting.key] ?? unset(setting, row)
            shown.declaration = .declared(setting)
            return shown
        } + (given + secrets).filter { own.contains($0.key) && !keys.contains($0.key) }
    }

    /// The values for the whole app that no module gets.
    public var unused: [ShownSetting] {
        var declared: Set<String> = []
        for row in manifest.table.modules {
            guard let settings = descriptions[row.name]?.settings else { return [] }
            declared.formUnion(settings.map(\.key))
        }
        var last: [String: SettingValue] = [:]
        for value in manifest.settings where value.row == nil { last[value.key] = value }
        return last.values.filter { !declared.contains($0.key) }.sorted { $0.key < $1.key }.map { shown($0, nil) }
    }

    private func shown(_ value: SettingValue, _ row: String?) -> ShownSetting {
        ShownSetting(
            module: row, key: value.key, declaration: .undeclared,
            value: secretKeys.contains(value.key) ? .string(AppTable.Secret.hidden) : value.value,
            layer: value.layer.rawValue, place: value.place)
    }

    private func unset(_ setting: DeclaredSetting, _ row: String) -> ShownSetting {
        let value = setting.schema?.defaultValue
        return ShownSetting(
            module: row, key: setting.key, declaration: .declared(setting),
            value: value.map { secretKeys.contains(setting.key) ? .string(AppTable.Secret.hidden) : $0 },
            layer: value == nil ? nil : "default", place: nil)
    }
}
