public import FoundationEssentials
public import Strata

/// Lends books.
///
/// There is one for each town.
public enum Library: Interface {
    public static let name = "Library"
    public static let version: ContractVersion? = "2.1"
    public static let members: [any InterfaceMember.Type] = [
        Find.self,
        Follow.self,
        Lend.self,
        Raw.self,
        Shelve.self,
        Tally.self,
        Featured.self,
        MostLoans.self,
        Lent.self,
        Noise.self,
    ]

    /// Finds books by their title.
    public struct Find: Action {
        public static let name = action("find")
        public typealias Reply = [Book]
        public static let errors: KeyValuePairs<String, String> = [
            "Library.closed": "The library is closed.",
            "Library.no-shelf": "",
        ]
        /// A part of the title.
        public var title: String
        public var limit: Int?
        public var `in`: Shelf?
        public var notAfter: Date?
        public init(title: String, limit: Int? = nil, in: Shelf? = nil, notAfter: Date? = nil) {
            self.title = title
            self.limit = limit
            self.`in` = `in`
            self.notAfter = notAfter
        }
        private enum CodingKeys: String, CodingKey {
            case title
            case limit
            case `in`
            case notAfter = "not-after"
        }
    }

    /// Each book that is lent or returned.
    public struct Follow: StreamingAction {
        public static let name = action("follow")
        public typealias Element = Move
        public init() {
        }
    }

    /// Deprecated.
    public struct Lend: Action {
        public static let name = action("lend")
        public var book: UInt
        public var days: UInt8
        public init(book: UInt, days: UInt8) {
            self.book = book
            self.days = days
        }
    }

    public struct Raw: Action, RawRepresentable {
        public static let name = action("raw")
        public typealias Reply = JSON
        public var rawValue: JSON
        public init(rawValue: JSON) {
            self.rawValue = rawValue
        }
    }

    public struct Shelve: Action, RawRepresentable {
        public static let name = action("shelve")
        public typealias Reply = Bool
        public var rawValue: String
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    public struct Tally: Action {
        public static let name = action("tally")
        public typealias Reply = [String: Int]
        public init() {
        }
    }

    /// The book of the day.
    public enum Featured: Property {
        public static let name = property("featured")
        public typealias Value = Book?
    }

    /// How many books a reader may have.
    /// Deprecated.
    public enum MostLoans: SettableProperty {
        public static let name = property("most-loans")
        public typealias Value = UInt8
        public static let errors: KeyValuePairs<String, String> = [
            "Library.closed": "The library is closed.",
            "Library.no-shelf": "",
        ]
    }

    /// A book was lent.
    public struct Lent: Broadcast {
        public static let name = "library.lent"
        public var book: UInt
        public var to: UUID
        public init(book: UInt, to: UUID) {
            self.book = book
            self.to = to
        }
    }

    public struct Noise: Report {
        public static let name = "library.noise"
        public var loudness: Double
        public init(loudness: Double) {
            self.loudness = loudness
        }
    }

    /// A book, and what is known of it.
    public struct Book: Codable, Equatable, Sendable {
        public var number: UInt
        public var title: String
        public var price: Decimal
        public var cover: Data?
        public var page: URL
        public var tags: [String]
        public var copies: [String: Int]
        public var shelf: Shelf
        public var sequels: [Book]
        public init(
            number: UInt,
            title: String,
            price: Decimal,
            cover: Data? = nil,
            page: URL,
            tags: [String],
            copies: [String: Int],
            shelf: Shelf,
            sequels: [Book]
        ) {
            self.number = number
            self.title = title
            self.price = price
            self.cover = cover
            self.page = page
            self.tags = tags
            self.copies = copies
            self.shelf = shelf
            self.sequels = sequels
        }
    }

    public final class Chapter: Codable, Sendable {
        public let name: String
        public let next: Chapter?
        public init(name: String, next: Chapter? = nil) {
            self.name = name
            self.next = next
        }
    }

    public enum Move: Codable, Sendable {
        case lent(to: String, Place)
        case read(Chapter)
        case returned
    }

    public struct Place: Codable, Sendable {
        public var element0: Double
        public var element1: Double
        public init(_ element0: Double, _ element1: Double) {
            self.element0 = element0
            self.element1 = element1
        }
        public init(from decoder: any Decoder) throws {
            var elements = try decoder.unkeyedContainer()
            element0 = try elements.decode(Double.self)
            element1 = try elements.decode(Double.self)
        }
        public func encode(to encoder: any Encoder) throws {
            var elements = encoder.unkeyedContainer()
            try elements.encode(element0)
            try elements.encode(element1)
        }
    }

    /// Where a book stands.
    public enum Shelf: String, Codable, Sendable, CaseIterable {
        case upper
        case lower
        case farAway = "far-away"
    }
}
