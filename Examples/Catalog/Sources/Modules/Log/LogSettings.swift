import Strata

/// What the manifest may set of Log.
struct LogSettings: ModuleSettings {
    static let defaults: JSON = ["log.file": "var/catalog.log"]

    /// The file that the lines are written to.
    var file: String

    private enum CodingKeys: String, CodingKey {
        case file = "log.file"
    }
}
