import Strata

/// What the manifest may set of Storage.
struct StorageSettings: ModuleSettings {
    static let defaults: JSON = ["storage.file": "var/catalog.sqlite"]

    /// The database.
    var file: String

    private enum CodingKeys: String, CodingKey {
        case file = "storage.file"
    }
}
