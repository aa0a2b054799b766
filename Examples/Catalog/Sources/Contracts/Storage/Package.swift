/// A package of the machine, as its package manager describes it.
public struct Package: Codable, Sendable, Equatable {
    /// What it is known by: its name, and `name:architecture` for a second
    /// one of the same name.
    public var name: String
    public var version: String
    public var architecture: String
    /// One line.
    public var summary: String
    /// Several paragraphs; empty where there is no more than the summary.
    public var description: String
    public var section: String?
    public var maintainer: String?
    public var homepage: String?
    public var depends: String?
    /// In KiB.
    public var installedSize: Int?

    public init(name: String, version: String, architecture: String, summary: String = "", description: String = "") {
        self.name = name
        self.version = version
        self.architecture = architecture
        self.summary = summary
        self.description = description
    }
}

/// What a list shows of a package.
public struct PackageSummary: Codable, Sendable, Equatable {
    public var name: String
    public var version: String
    public var summary: String

    public init(name: String, version: String, summary: String) {
        self.name = name
        self.version = version
        self.summary = summary
    }
}
