public import Strata

/// Keeps packages and notes, and finds them again.
public enum Storage: Interface {
    public static let name = "Storage"
    public static let version: ContractVersion? = "1.0"
    public static let members: [any InterfaceMember.Type] = [
        Page.self, Find.self, Search.self, Counts.self, Dump.self, BeginImport.self, Put.self, CompleteImport.self,
        AddNote.self, Notes.self, StrayNotes.self, StorageChanged.self,
    ]

    /// The longest page, and the longest batch.
    public static let mostAtOnce = 500

    /// One page of all packages, by name.
    public struct Page: Action {
        public static let name = action("page")
        /// The name that the page begins after; nil for the first one.
        public var after: String?
        public var limit: Int

        public struct Reply: Codable, Sendable {
            public var packages: [PackageSummary]
            /// What the next page begins after; nil on the last one.
            public var next: String?

            public init(packages: [PackageSummary], next: String?) {
                self.packages = packages
                self.next = next
            }
        }

        public init(after: String?, limit: Int) {
            self.after = after
            self.limit = limit
        }
    }

    /// One package; null where there is none of that name.
    public struct Find: Action {
        public static let name = action("find")
        public typealias Reply = Package?
        public var name: String

        public init(name: String) { self.name = name }
    }

    /// The packages that have all of a text's words in their name or their
    /// description, the best first. The last word may be the beginning of one.
    public struct Search: Action {
        public static let name = action("search")
        public var text: String
        public var limit: Int
        /// How many of the best to leave out.
        public var offset: Int

        public struct Reply: Codable, Sendable {
            public var packages: [PackageSummary]
            /// How many there are in all.
            public var total: Int

            public init(packages: [PackageSummary], total: Int) {
                self.packages = packages
                self.total = total
            }
        }

        public init(text: String, limit: Int, offset: Int = 0) {
            self.text = text
            self.limit = limit
            self.offset = offset
        }
    }

    /// How much there is of everything.
    public struct Counts: Action {
        public static let name = action("counts")

        public struct Reply: Codable, Sendable, Equatable {
            public var packages: Int
            public var notes: Int

            public init(packages: Int, notes: Int) {
                self.packages = packages
                self.notes = notes
            }
        }

        public init() {}
    }

    /// Everything, a batch at a time, as it was when the first one was asked for.
    public struct Dump: StreamingAction {
        public static let name = action("dump")

        public struct Element: Codable, Sendable {
            public var packages: [Package]
            public var notes: [Note]

            public init(packages: [Package], notes: [Note]) {
                self.packages = packages
                self.notes = notes
            }
        }

        public init() {}
    }
}
