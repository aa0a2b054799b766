/// A node of the manifest's tree, with its place in the file. Aliases are
/// replaced by what they stand for; a key that is there twice is still twice.
struct YAMLNode: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        /// Plain is what stands without quotes and may be more than a string.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([Pair])
    }

    struct Pair: Sendable, Equatable {
        var key: String
        var line: Int
        var column: Int
        var value: YAMLNode
    }

    var content: Content
    /// From 1.
    var line: Int
    /// From 1.
    var column: Int
    /// How many nodes there are in it, itself being one.
    var size = 1
    /// How deep it is, a scalar being 1.
    var depth = 1
}

/// Why text is no YAML that a manifest may be written in.
struct YAMLError: Error {
    var line: Int?
    var column: Int?
    var message: String
}
