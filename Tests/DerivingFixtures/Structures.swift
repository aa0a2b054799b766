extension FixtureType {
    static let structures = [
        FixtureType("nested", Nested.self), FixtureType("used-twice", UsedTwice.self),
        FixtureType("renamed-members", RenamedMembers.self), FixtureType("omitted-members", OmittedMembers.self),
        FixtureType("odd-names", OddNames.self), FixtureType("generic", GenericUse.self),
        FixtureType("generic-inner", GenericInner.self), FixtureType("many-members", ManyMembers.self),
    ]
    static let names = [
        FixtureType("same-names", SameNames.self), FixtureType("same-name-outside", SameNameOutside.self),
        FixtureType("private-type", privateType), FixtureType("local-types", localTypes),
        FixtureType("unusual-names", UnusualNames.self),
    ]
}

struct Nested: Codable {
    struct Inner: Codable {
        struct Core: Codable { var value: Int }
        var core: Core
        var others: [Core]
    }
    var inner: Inner
}

struct UsedTwice: Codable {
    var first: Texts
    var second: Texts
    var others: [Texts]
}

struct RenamedMembers: Codable {
    var page: Int
    var perPage: Int?
    private enum CodingKeys: String, CodingKey {
        case page = "catalog.page"
        case perPage = "per_page"
    }
}

struct OmittedMembers: Codable {
    var kept: String
    var left = 3
    private enum CodingKeys: CodingKey { case kept }
}

struct OddNames: Codable {
    var space: Int
    var slash: Int
    var accent: Int
    private enum CodingKeys: String, CodingKey {
        case space = "a b"
        case slash = "a/b~c"
        case accent = "größe \"x\""
    }
}

struct Page<Element: Codable>: Codable {
    var items: [Element]
    var next: String?
}

struct GenericUse: Codable {
    var texts: Page<Texts>
    var numbers: Page<Int>
    var pages: Page<Page<Texts?>>
    var maps: Page<[String: Texts]>
}

enum Table<Cell: Codable> {
    struct Row: Codable { var cells: [Cell] }
}

struct GenericInner: Codable {
    var texts: Table<Texts>.Row
    var numbers: Table<Int>.Row
}

struct ManyMembers: Codable {
    var a: Int, b: Int, c: Int, d: Int, e: Int, f: Int, g: Int, h: Int, i: Int, j: Int, k: Int, l: Int, m: Int
    var n: String, o: String, p: String, q: String, r: String, s: String, t: String, u: String, v: String
}

enum Shop {
    struct Item: Codable { var price: Int }
}
enum Library {
    struct Item: Codable { var author: String }
}
struct Item: Codable { var weight: Double }

struct SameNames: Codable {
    var sold: Shop.Item
    var lent: Library.Item
}

struct SameNameOutside: Codable {
    var sold: Shop.Item
    var plain: Item
}

private struct Hidden: Codable { var value: Int }
private struct UsesHidden: Codable {
    var hidden: Hidden
    var more: [Hidden]
}
private let privateType = UsesHidden.self as any (Codable & SendableMetatype).Type

private func one() -> any (Codable & SendableMetatype).Type {
    struct Local: Codable { var one: Int }
    return Local.self
}

private func two() -> any (Codable & SendableMetatype).Type {
    struct Local: Codable { var two: Int }
    return Local.self
}

private struct Two<First: Codable, Second: Codable>: Codable {
    var first: First
    var second: Second
}

private func pair<First: Codable & SendableMetatype, Second: Codable & SendableMetatype>(
    _ first: First.Type, _ second: Second.Type
) -> any (Codable & SendableMetatype).Type { Two<First, Second>.self }

private let localTypes = pair(one(), two())

struct Größe: Codable { var wert: Int }
struct _Underscored: Codable { var value: Int }

struct UnusualNames: Codable {
    var size: Größe
    var other: _Underscored
}
