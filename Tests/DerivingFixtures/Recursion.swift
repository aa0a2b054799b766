extension FixtureType {
    static let recursion = [
        FixtureType("recursive-array", Folder.self), FixtureType("recursive-class", Chain.self),
        FixtureType("recursive-map", Outline.self), FixtureType("mutually-recursive", Person.self),
        FixtureType("recursive-cases", Expression.self), FixtureType("recursive-through-structure", Condition.self),
        FixtureType("recursive-generic", Tree<Texts>.self), FixtureType("recursive-wrapper", Bush.self),
        FixtureType("uses-recursive", UsesRecursive.self),
    ]
}

struct Folder: Codable {
    var name: String
    var folders: [Folder]
}

final class Chain: Codable, Sendable {
    let value: Int
    let next: Chain?
}

struct Outline: Codable { var chapters: [String: Outline] }

struct Person: Codable {
    var name: String
    var employers: [Company]
}
struct Company: Codable {
    var staff: [Person]
    var owner: Company.Owner?
    struct Owner: Codable { var companies: [Company] }
}

/// The first case needs a value of the enum itself.
indirect enum Expression: Codable {
    case sum(Expression, Expression)
    case negated(Expression)
    case list([Expression])
    case literal(Int)
}

indirect enum Condition: Codable {
    case both(Pair)
    case not(Condition)
    case always

    struct Pair: Codable {
        var first: Condition
        var second: Condition
        var others: [Pair]?
    }
}

struct Tree<Value: Codable>: Codable {
    var value: Value
    var branches: [Tree<Value>]
}

/// Written as its branches.
struct Bush: Codable {
    var branches: [Bush]
    init(from decoder: any Decoder) throws {
        branches = try decoder.singleValueContainer().decode([Bush].self)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(branches)
    }
}

struct UsesRecursive: Codable {
    var folder: Folder
    var expression: Expression?
}
