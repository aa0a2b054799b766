import Strata

/// What the manifest may set of Notes.
struct NotesSettings: ModuleSettings {
    static let defaults: JSON = ["notes.longest": 4096]

    /// The bytes of the longest note, in UTF-8.
    var longest: UInt16

    private enum CodingKeys: String, CodingKey {
        case longest = "notes.longest"
    }
}
