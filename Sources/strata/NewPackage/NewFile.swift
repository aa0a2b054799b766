/// A file of a new folder.
struct NewFile {
    /// Below the folder.
    var path: String
    var text: String
}
