public import Strata

extension Catalog {
    /// Imports the package manager's file if it has changed, and tells the progress.
    /// Catalog does the same at each start, and at `app.reload`.
    ///
    /// There is one import at a time: callers who come while it runs get its progress,
    /// and it continues when they leave.
    public struct Import: StreamingAction {
        public static let name = action("import")
        public static let errors: KeyValuePairs<String, String> = [
            "Catalog.no-status-file": "There is nothing to import."
        ]

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
