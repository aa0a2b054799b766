internal import FoundationEssentials

extension FixtureType {
    static let collections = [
        FixtureType("arrays", Arrays.self), FixtureType("sets", Sets.self), FixtureType("maps", Maps.self),
        FixtureType("maps-by-integers", MapsByIntegers.self), FixtureType("maps-by-cases", MapsByCases.self),
        FixtureType("maps-by-numbered-cases", MapsByNumberedCases.self),
        FixtureType("maps-by-own-keys", MapsByOwnKeys.self), FixtureType("an-array", [Texts].self),
        FixtureType("a-map", [String: [Texts]].self),
    ]
}

struct Arrays: Codable {
    var flat: [Int]
    var nested: [[String]]
    var texts: [Texts]
    var contiguous: ContiguousArray<Bool>
}

struct Sets: Codable {
    var words: Set<String>
    var texts: Set<Texts>
}

struct Maps: Codable {
    var counts: [String: Int]
    var texts: [String: Texts]
    var nested: [String: [String: [Double]]]
}

struct MapsByIntegers: Codable { var names: [Int: String] }

enum Season: String, Codable, CodingKeyRepresentable { case spring, summer, autumn, winter }
enum Slot: Int, Codable, CodingKeyRepresentable { case first = 1, second, last = -1 }

struct OwnKey: Codable, Hashable, RawRepresentable, CodingKeyRepresentable {
    var rawValue: String
}

struct MapsByCases: Codable {
    var names: [Season: String]
    var best: Season
}

struct MapsByNumberedCases: Codable { var names: [Slot: String] }
struct MapsByOwnKeys: Codable { var names: [OwnKey: Int] }
