public import StrataCore
internal import StrataDeriving

/// The settings that a module declares: their keys, types and defaults.
///
///     struct CatalogSettings: ModuleSettings {
///         static let defaults: JSON = ["catalog.page": 20]
///         /// Items on a page.
///         var page: Int
///         var key: Secret<String>?
///         enum CodingKeys: String, CodingKey {
///             case page = "catalog.page"
///             case key = "session.key"
///         }
///     }
///
/// `exports.settings(CatalogSettings.self)` declares them. The manifest has values only.
///
/// A setting is required unless it has a default or is optional. A `Secret` is a setting of its own,
/// written as a string, and has no default. Settings have the types that contracts have. A module has
/// at most 1,024, with keys of 1 to 256 bytes; one that breaks a rule doesn't start.
public protocol ModuleSettings: Decodable, Sendable {
    /// The values of settings that nobody sets, by their keys. Empty by default.
    static var defaults: JSON { get }
}

extension ModuleSettings {
    public static var defaults: JSON { [:] }
}

extension Exports {
    struct SettingsExport {
        var type: any ModuleSettings.Type
        /// Takes changed settings; nil if the module takes them at its next start.
        var changed: (@ModuleActor (any ModuleSettings) async throws -> Void)?

        var outline: ModuleOutline.Settings { ModuleOutline.Settings(type, defaults: type.defaults) }
    }

    /// Declares the module's settings. It then gets these settings and no others.
    ///
    /// The start fails if a required setting has no value, or a value has another type. The error
    /// names the key, and never shows a secret.
    public mutating func settings<Settings: ModuleSettings>(_ type: Settings.Type) {
        precondition(declaredSettings == nil, "settings are declared twice: declare all in one type")
        declaredSettings = SettingsExport(type: type)
    }

    /// Takes settings that change while the module runs. Without it, the module takes them at its
    /// next start.
    ///
    /// The values are taken together: after `perform`, `Bus.settings(as:)` returns them.
    /// - Parameters:
    ///   - type: The type that was declared before.
    ///   - perform: Gets the new settings. If it throws, all old values stay, and `strata ps` shows
    ///     the changed keys as pending.
    public mutating func settingsChanged<Settings: ModuleSettings>(
        _ type: Settings.Type, perform: @escaping @ModuleActor (Settings) async throws -> Void
    ) {
        precondition(
            declaredSettings?.type is Settings.Type,
            "\(type) isn't declared: call exports.settings before settingsChanged")
        precondition(declaredSettings?.changed == nil, "settingsChanged is set twice: set it once")
        // because the settings are read as the type that is declared
        declaredSettings?.changed = { try await perform($0 as! Settings) }
    }
}

extension Context {
    /// Returns the settings that the module declares, with their defaults.
    /// - Parameter type: The type that `exports.settings` declared; the process ends for another one.
    public func settings<Settings: ModuleSettings>(as type: Settings.Type) -> Settings {
        guard let settings = declaredSettings as? Settings else {
            preconditionFailure("\(type) isn't what the module declares: call exports.settings(\(type).self)")
        }
        return settings
    }
}

extension Bus {
    /// Returns the settings that the module has now.
    ///
    /// They change when `settingsChanged` has taken new ones.
    /// - Parameter type: The type that `exports.settings` declared; the process ends for another one,
    ///   and if the module isn't connected yet.
    public func settings<Settings: ModuleSettings>(as type: Settings.Type) -> Settings {
        guard let settings = runtime.settings?.value as? Settings else {
            preconditionFailure("there is no \(type): declare it by exports.settings, and ask when connected")
        }
        return settings
    }
}
