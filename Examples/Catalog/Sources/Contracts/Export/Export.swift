public import StorageInterface
public import Strata

/// Everything as JSON lines, in a file that other programs read or as a stream.
public enum Export: Interface {
    public static let name = "Export"
    public static let version: ContractVersion? = "1.1"
    public static let members: [any InterfaceMember.Type] = [Run.self, Save.self, Lines.self]

    /// Writes all packages and notes to the file.
    public struct Run: Action {
        public static let name = action("run")
        public static let errors: KeyValuePairs<String, String> = [
            "Export.running": "An export is being written.",
            "Export.no-file": "The file can't be written.",
        ]

        public struct Reply: Codable, Sendable {
            public var path: String
            public var packages: Int
            public var notes: Int
            public var bytes: Int
            /// False where the file was still up to date.
            public var written: Bool

            public init(path: String, packages: Int, notes: Int, bytes: Int, written: Bool) {
                self.path = path
                self.packages = packages
                self.notes = notes
                self.bytes = bytes
                self.written = written
            }
        }

        public init() {}
    }

    /// Writes all packages and notes to the file that its caller has opened, and sends as a descriptor. So Export
    /// needs no right to that file, and not its name.
    public struct Save: Action {
        public static let name = action("save")
        public static let errors: KeyValuePairs<String, String> = ["Export.no-file": "The file can't be written."]
        public static let descriptors = DescriptorCounts(params: 1)
        public typealias Reply = Amount

        public init() {}
    }

    /// What was written.
    public struct Amount: Codable, Sendable {
        public var packages = 0
        public var notes = 0
        public var bytes = 0

        public init() {}
    }

    /// All packages, then all notes, one after another: what stands in the file.
    /// No line is read before somebody takes it.
    public struct Lines: StreamingAction {
        public static let name = action("lines")
        public typealias Element = Line

        public init() {}
    }

    /// One line: a package or a note.
    public struct Line: Codable, Sendable, Equatable {
        public var package: Package?
        public var note: Note?

        public init(_ package: Package) { self.package = package }
        public init(_ note: Note) { self.note = note }
    }
}
