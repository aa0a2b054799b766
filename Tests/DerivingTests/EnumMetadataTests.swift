import Testing

@testable import DerivingFixtures
@testable import StrataDeriving

struct EnumMetadataTests {
    private enum Keys: String, CodingKey { case first, second = "2nd" }
    private enum Alone { case one }
    private enum Nobody {}
    private enum Generic<Value> { case left, right }

    @Test func casesAreListedInOrder() {
        #expect(EnumMetadata(Keys.self)?.values(of: Keys.self)?.map(\.stringValue) == ["first", "2nd"])
        #expect(EnumMetadata(Many.self)?.values(of: Many.self)?.map(\.rawValue) == Array(0..<264))
        #expect(EnumMetadata(Alone.self)?.values(of: Alone.self) == [.one])
        #expect(EnumMetadata(Generic<Int>.self)?.values(of: Generic<Int>.self) == [.left, .right])
    }

    @Test func casesHaveTheirNamesInSwift() {
        #expect(EnumMetadata(Keys.self)?.name(of: Keys.second) == "second")
        #expect(EnumMetadata(Many.self)?.name(of: Many.k23) == "k23")
        #expect(EnumMetadata(Alone.self)?.name(of: Alone.one) == "one")
        #expect(EnumMetadata(Generic<[String]>.self)?.name(of: Generic<[String]>.right) == "right")
    }

    @Test func otherTypesHaveNone() {
        #expect(EnumMetadata(Int.self)?.count == nil)
        #expect(EnumMetadata(Int?.self)?.count == nil)
        #expect(EnumMetadata(Plain.self)?.count == nil)
        #expect(EnumMetadata((Int, Int).self)?.count == nil)
        #expect(EnumMetadata(Nobody.self)?.values(of: Nobody.self) == nil)
        #expect(EnumMetadata(Shape.self)?.hasPayloads == true)
        #expect(EnumCases.values(of: Shape.self) == nil)
    }
}
