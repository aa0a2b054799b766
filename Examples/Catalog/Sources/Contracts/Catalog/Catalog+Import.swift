public import Strata

extension Catalog {
    /// Looks whether the package manager's file has changed, imports it where it
    /// has, and tells how far that is. Done at each start, and at `app.reload`, too.
    ///
    /// There is one import at a time: who asks while it runs is told of that one,
    /// and it goes on where they leave. `Catalog.no-status-file` where there is
    /// nothing to import.
    public struct Import: StreamingAction {
        public static let name = action("import")

        /// A slow reader misses some, but never the last one.
        public struct Element: Codable, Sendable, Equatable {
            public enum State: String, Codable, Sendable {
                case running, complete
                /// The file is as it was at the last import.
                case unchanged
            }

            public var state: State
            /// Packages brought in so far.
            public var imported: Int
            /// Packages that the file no longer has; when it is complete.
            public var removed: Int?
            /// How many there are now; when it is complete or unchanged.
            public var packages: Int?

            public init(_ state: State, imported: Int, removed: Int? = nil, packages: Int? = nil) {
                self.state = state
                self.imported = imported
                self.removed = removed
                self.packages = packages
            }
        }

        public init() {}
    }
}
