public import StorageInterface
public import Strata

/// A search with numbered pages, for what shows "page 2 of 9".
public enum Finder: Interface {
    public static let name = "Finder"
    public static let version: ContractVersion? = "1.1"
    public static let members: [any InterfaceMember.Type] = [Find.self]

    /// One page of the packages that have all the words, the best first.
    public struct Find: Action {
        public static let name = action("find")
        public var words: [String]
        /// The first one is 1, which is the default.
        public var page: Int?

        public struct Reply: Codable, Sendable, Equatable {
            public var found: [PackageSummary]
            public var page: Int
            /// How many there are; 0 where nothing was found.
            public var pages: Int
            /// Where nothing was found: names of packages that are like the first word, which may be mistyped.
            public var similar: [String]?

            public init(found: [PackageSummary], page: Int, pages: Int, similar: [String]? = nil) {
                self.found = found
                self.page = page
                self.pages = pages
                self.similar = similar
            }
        }

        public init(words: [String], page: Int? = nil) {
            self.words = words
            self.page = page
        }
    }
}
