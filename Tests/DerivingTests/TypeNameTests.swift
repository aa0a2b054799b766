import Testing

@testable import DerivingFixtures
@testable import StrataDeriving

struct TypeNameTests {
    private struct Inner: Codable { struct Deep {} }
    private enum Generic<Value> { struct Row {} }

    @Test func typesHaveTheirQualifiedNames() {
        #expect(TypeName(Shop.Item.self).shown == "DerivingFixtures.Shop.Item")
        #expect(TypeName([String: Shop.Item?].self).shown == "Dictionary<String, Optional<DerivingFixtures.Shop.Item>>")
        #expect(TypeName(Generic<[Int]>.Row.self).shown == "DerivingTests.TypeNameTests.Generic<Array<Int>>.Row")
    }

    @Test func symbolsHaveNoGenericArguments() {
        #expect(TypeName(Generic<[Int]>.Row.self).symbol == "DerivingTests.TypeNameTests.Generic.Row")
        #expect(TypeName(Generic<(Int) -> Table<Int>.Row>.Row.self).symbol == "DerivingTests.TypeNameTests.Generic.Row")
    }

    @Test func definitionsAreNamedFromTheInsideOut() {
        #expect(
            TypeName(Inner.Deep.self).definitions
                == ["Deep", "Inner.Deep", "TypeNameTests.Inner.Deep", "DerivingTests.TypeNameTests.Inner.Deep"])
        #expect(TypeName(Generic<[Shop.Item]>.Row.self).definitions.prefix(2) == ["Row", "Generic_Array_Item.Row"])
        #expect(TypeName(Page<[String: Int?]>.self).definitions.first == "Page_Dictionary_String_Optional_Int")
    }

    @Test func privateContextsLeaveNoTrace() {
        func local() -> any Any.Type {
            struct Here {}
            return Here.self
        }
        #expect(TypeName(local()).shown == "DerivingTests.TypeNameTests.Here")
        #expect(TypeName(Page<Inner>.self).shown == "DerivingFixtures.Page<DerivingTests.TypeNameTests.Inner>")
    }
}
