public import Strata

// An import replaces all packages: it is `beginImport`, any number of `put`s,
// `completeImport`. One that is left halfway has added and changed packages and
// removed none; the next one does all of it again.
extension Storage {
    /// Begins an import, and answers with a number for its batches; null where
    /// the last completed one had the same stamp, so that there is nothing to do.
    public struct BeginImport: Action {
        public static let name = action("beginImport")
        public typealias Reply = Int64?
        /// Tells one state of the import's source from another.
        public var stamp: String

        public init(stamp: String) { self.stamp = stamp }
    }

    /// Adds packages, and changes those that are there. Doing it twice is
    /// doing it once.
    public struct Put: Action {
        public static let name = action("put")
        /// The import's number.
        public var number: Int64
        /// `Storage.mostAtOnce` at most.
        public var packages: [Package]

        public init(number: Int64, packages: [Package]) {
            self.number = number
            self.packages = packages
        }
    }

    /// Ends an import: packages that it didn't put are removed.
    public struct CompleteImport: Action {
        public static let name = action("completeImport")
        public static let errors: KeyValuePairs<String, String> = [
            "Storage.no-such-import": "No import has this number."
        ]
        public var number: Int64

        public struct Reply: Codable, Sendable, Equatable {
            public var packages: Int
            public var removed: Int

            public init(packages: Int, removed: Int) {
                self.packages = packages
                self.removed = removed
            }
        }

        public init(number: Int64) { self.number = number }
    }
}
