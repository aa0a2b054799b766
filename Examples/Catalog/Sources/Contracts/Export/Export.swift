public import Strata

/// Writes everything to a file that other programs read.
public enum Export: Interface {
    public static let name = "Export"

    /// Writes all packages and notes as JSON lines.
    public struct Run: Action {
        public static let name = action("run")

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
}
