/// A value in the manifest and the key that leads to it.
struct Field {
    var node: YAMLNode
    /// Such as `modules.Storage.restart`; empty for the root.
    var path: String

    /// A key of a mapping, with what stands behind it.
    struct Entry {
        var key: String
        var value: Field
        /// The key itself, for errors that concern it.
        var keyLine: Int
        var keyColumn: Int
    }

    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}
