public import StrataCore

/// A value that some layer gives a setting.
public struct SettingValue: Sendable, Equatable {
    /// Where values come from; later ones win.
    public enum Layer: String, Sendable {
        /// The manifest's own `settings`.
        case app
        /// A row's `settings`.
        case row
        /// A file of `settings.d`.
        case file = "settings.d"
        /// A variable `STRATA_SET_…`.
        case environment
    }

    public var key: String
    public var value: JSON
    /// The row that the value is for; nil if it is for the whole app.
    public var row: String?
    public var layer: Layer
    /// Where it stands.
    public var place: SettingPlace

    /// Whether the value is for a row.
    func isFor(_ row: String) -> Bool { self.row == nil || self.row == row }
}

/// Where a setting's value, or a secret's source, stands.
public struct SettingPlace: Sendable, Equatable, CustomStringConvertible {
    /// The path of the manifest or of a file in `settings.d`.
    public var file: String
    /// The file's number: 0 for the manifest.
    var number = 0
    /// The line, from 1; nil for a variable.
    public var line: Int?
    /// The column, from 1; nil for a variable.
    public var column: Int?
    /// The key, such as `modules.Catalog.settings.catalog.page`, or the variable's name.
    public var key: String

    /// `strata.yaml:8`, or the variable's name.
    public var description: String { line.map { "\(file):\($0)" } ?? key }

    /// Returns an error about the value.
    func problem(_ message: String) -> ManifestError {
        ManifestError(file: file, number: number, line: line, column: column, key: key, message: message)
    }
}

extension Manifest {
    /// Returns the value that a row's module gets for each key, in the order of the keys' first
    /// values. Secrets aren't among them.
    public func values(of row: String) -> [SettingValue] {
        var places: [String: Int] = [:]
        var values: [SettingValue] = []
        for value in settings where value.isFor(row) {
            if let place = places[value.key] {
                values[place] = value
            } else {
                places[value.key] = values.count
                values.append(value)
            }
        }
        return values
    }
}
