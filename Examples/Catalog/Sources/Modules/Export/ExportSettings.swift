import Strata

/// What the manifest may set of Export.
struct ExportSettings: ModuleSettings {
    static let defaults: JSON = ["export.file": "var/catalog.jsonl"]

    /// The file that everything is written to.
    var file: String

    private enum CodingKeys: String, CodingKey {
        case file = "export.file"
    }
}
