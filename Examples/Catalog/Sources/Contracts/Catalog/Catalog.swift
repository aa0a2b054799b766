public import StorageInterface
public import Strata

/// The packages of the machine that the app runs on.
public enum Catalog: Interface {
    public static let name = "Catalog"
    public static let version: ContractVersion? = "1.0"
    public static let members: [any InterfaceMember.Type] = [List.self, Item.self, Search.self, Import.self]

    /// One page of all packages, by name.
    public struct List: Action {
        public static let name = action("list")
        /// The name that the page begins after: the last page's `next`.
        public var after: String?
        /// How many are wanted; the setting `catalog.page` without it.
        public var limit: Int?

        public struct Reply: Codable, Sendable {
            public var items: [PackageSummary]
            /// What the next page begins after; missing on the last one.
            public var next: String?
            /// How many there are on all pages.
            public var total: Int

            public init(items: [PackageSummary], next: String?, total: Int) {
                self.items = items
                self.next = next
                self.total = total
            }
        }

        public init(after: String? = nil, limit: Int? = nil) {
            self.after = after
            self.limit = limit
        }
    }

    /// All about one package.
    public struct Item: Action {
        public static let name = action("item")
        public static let errors: KeyValuePairs<String, String> = ["Catalog.no-such-item": "No package has this name."]
        public typealias Reply = Package
        public var name: String

        public init(name: String) { self.name = name }
    }

    /// The packages that have all of these words, the best first. The last word
    /// may be the beginning of one.
    public struct Search: Action {
        public static let name = action("search")
        public static let errors: KeyValuePairs<String, String> = ["Catalog.empty-query": "The query has no word."]
        public var q: String
        public var limit: Int?
        public var offset: Int?

        public struct Reply: Codable, Sendable {
            public var items: [PackageSummary]
            /// How many there are in all, shown or not.
            public var total: Int

            public init(items: [PackageSummary], total: Int) {
                self.items = items
                self.total = total
            }
        }

        public init(q: String, limit: Int? = nil, offset: Int? = nil) {
            self.q = q
            self.limit = limit
            self.offset = offset
        }
    }
}
