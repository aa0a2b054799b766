extension FixtureType {
    static let enums = [
        FixtureType("cases-by-name", CasesByName.self), FixtureType("a-case", Colour.self),
        FixtureType("cases-by-number", CasesByNumber.self), FixtureType("one-case", OneCase.self),
        FixtureType("many-cases", ManyCases.self), FixtureType("listed-cases", ListedCases.self),
        FixtureType("own-raw-values", OwnRawValues.self), FixtureType("cases-without-values", CasesWithoutValues.self),
        FixtureType("cases-with-values", CasesWithValues.self),
        FixtureType("one-case-with-values", OneCaseWithValues.self),
        FixtureType("renamed-cases", RenamedCases.self), FixtureType("generic-cases", GenericCases.self),
        FixtureType("unread-cases", UnreadCases.self),
    ]
}

enum Colour: String, Codable { case red, green, blue = "sky blue" }
struct CasesByName: Codable {
    var colour: Colour
    var maybe: Colour?
    var all: [Colour]
}

enum Level: Int, Codable { case low = -1, none, high = 10 }
enum Byte: UInt8, Codable { case zero, last = 255 }
struct CasesByNumber: Codable {
    var level: Level
    var byte: Byte
}

enum Only: String, Codable { case one }
struct OneCase: Codable { var only: Only }

/// Over 256 cases take two bytes.
enum Many: Int, Codable {
    case a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23
    case b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17, b18, b19, b20, b21, b22, b23
    case c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23
    case d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, d16, d17, d18, d19, d20, d21, d22, d23
    case e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14, e15, e16, e17, e18, e19, e20, e21, e22, e23
    case f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22, f23
    case g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, g10, g11, g12, g13, g14, g15, g16, g17, g18, g19, g20, g21, g22, g23
    case h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16, h17, h18, h19, h20, h21, h22, h23
    case i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16, i17, i18, i19, i20, i21, i22, i23
    case j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, j10, j11, j12, j13, j14, j15, j16, j17, j18, j19, j20, j21, j22, j23
    case k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, k13, k14, k15, k16, k17, k18, k19, k20, k21, k22, k23
}
struct ManyCases: Codable { var many: Many }

/// What `CaseIterable` lists counts, and in its order.
enum Listed: String, Codable, CaseIterable {
    case one, two, old
    static var allCases: [Listed] { [.two, .one] }
}
struct ListedCases: Codable { var listed: Listed }

enum OwnRaw: RawRepresentable, Codable {
    case yes, no
    init?(rawValue: String) {
        switch rawValue {
        case "y": self = .yes
        case "n": self = .no
        default: return nil
        }
    }
    var rawValue: String {
        switch self {
        case .yes: "y"
        case .no: "n"
        }
    }
}
struct OwnRawValues: Codable { var answer: OwnRaw }

enum Direction: Codable { case left, right, up }
struct CasesWithoutValues: Codable {
    var direction: Direction
    var path: [Direction]
}

enum Shape: Codable {
    case circle(Double)
    case rectangle(width: Double, height: Double)
    case label(String, at: Point?, colours: [Colour])
    case inner(Texts)
    case empty

    struct Point: Codable { var x: Int, y: Int }
}
struct CasesWithValues: Codable {
    var shape: Shape
    var more: [String: Shape]
    var maybe: Shape?
}

enum Wrapped: Codable { case value(Int) }
struct OneCaseWithValues: Codable { var wrapped: Wrapped }

enum Renamed: Codable {
    case circle(radius: Double)
    case none
    private enum CodingKeys: String, CodingKey {
        case circle = "a circle"
        case none = "no shape"
    }
    private enum CircleCodingKeys: String, CodingKey { case radius = "r" }
}
struct RenamedCases: Codable { var shape: Renamed }

enum Either<First: Codable, Second: Codable>: Codable { case first(First), second(Second) }
struct GenericCases: Codable {
    var text: Either<String, Texts>
    var number: Either<Int, [Int]>
}

/// A case without a key isn't read.
enum Partly: Codable {
    case read(Int), unread
    private enum CodingKeys: CodingKey { case read }
}
struct UnreadCases: Codable { var partly: Partly }
