import StrataContracts
import StrataCore
import TestSupport
import Testing

@testable import StrataSymbols

/// Doc comments come from symbol graphs. Those in Symbols are the compiler's for Market.swift.txt, without
/// what nobody reads here.
struct SymbolGraphTests {
    private func market() throws -> SymbolGraph {
        var graph = SymbolGraph()
        for file in ["Market.symbols.json", "Market@Swift.symbols.json"] {
            try graph.add(JSON(parsing: try Repository.text("Tests/DerivingTests/Symbols/\(file)")))
        }
        return graph
    }

    private let integer = Schema(.integer(minimum: nil, maximum: nil))
    private let text = Schema(.string(.init()))

    private func object(_ names: String..., isClosed: Bool = false) -> Schema {
        Schema(.object(.init(names.map { .init($0, text) }, isClosed: isClosed)))
    }

    @Test func interfacesActionsAndNoticesGetTheirDocComments() throws {
        var contract = Contract(.interface("Shop"))
        var find = Contract.Action("find")
        find.params = object("text", "shop.page", "start", "unknown")
        contract.actions = [find, Contract.Action("untyped")]
        contract.broadcasts = [Contract.Notice("shop.sold", content: object("what"))]
        try market().complete(
            &contract,
            [
                "": "Market.Shop", "/actions/find": "Market.Shop.Find",
                "/actions/find/params/properties/shop.page": "Market.Shop.Find.page",
                "/broadcasts/shop.sold": "Market.Shop.Sold",
            ])
        #expect(contract.doc == "Where things are sold.\n\nA second paragraph.")
        #expect(contract.actions.map(\.doc) == ["Finds things.", nil])
        guard case .object(let members)? = contract.actions[0].params?.form else {
            Issue.record("the params are no object")
            return
        }
        #expect(members.properties.map(\.schema.doc) == ["What to look for.", "The page, from 1.", nil, nil])
        #expect(members.properties.map(\.schema.isDeprecated) == [false, false, true, false])
        #expect(contract.broadcasts[0].doc == "Something was sold.")
        #expect(contract.broadcasts[0].isDeprecated)
    }

    @Test func definitionsGetTheirDocComments() throws {
        var contract = Contract(.interface("Shop"))
        contract.definitions = [
            "Sub": object("name", "colour"), "Page_Int": object("items"), "Array_Int.Row": object("height"),
            "Shape": Schema(
                .union([
                    object("circle", isClosed: true), object("square", isClosed: true),
                    object("nothing", isClosed: true),
                ])),
        ]
        contract.definitions["Thing"] = Schema(object("name").form, doc: "Its own words.")
        try market().complete(
            &contract,
            [
                "/$defs/Sub": "Market.Shop.Sub", "/$defs/Sub/properties/name": "Market.Shop.Thing.name",
                "/$defs/Page_Int": "Market.Page", "/$defs/Array_Int.Row": "Array.Row",
                "/$defs/Shape": "Market.Shop.Shape",
                "/$defs/Thing": "Market.Shop.Thing",
            ])
        func docs(_ name: String) -> [String?] {
            switch contract.definitions[name]?.form {
            case .object(let members)?: return members.properties.map(\.schema.doc)
            case .union(let alternatives)?:
                return alternatives.map { alternative in
                    guard case .object(let members) = alternative.form else { return nil }
                    return members.properties.first?.schema.doc
                }
            default: return []
            }
        }
        #expect(docs("Sub") == ["Its name.", "Its colour."])
        #expect(docs("Page_Int") == ["The items."])
        #expect(docs("Array_Int.Row") == ["The height."])
        #expect(contract.definitions["Shape"]?.doc == "A shape.")
        #expect(docs("Shape") == ["Round.", nil, "None at all."])
        #expect(contract.definitions["Thing"]?.doc == "Its own words.")
        #expect(docs("Thing") == ["Its name."])
    }

    @Test func aCommentOfAnotherModulesProtocolIsNotTakenOver() throws {
        var graph = SymbolGraph()
        func symbol(_ name: String, _ module: String) -> JSON {
            [
                "pathComponents": [.string(name)], "location": [:],
                "docComment": ["module": .string(module), "lines": [["text": "A sentence."]]],
            ]
        }
        try graph.add(["module": ["name": "Shop"], "symbols": [symbol("Own", "Shop"), symbol("Taken", "Strata")]])
        #expect(graph["Shop.Own"]?.doc == "A sentence.")
        #expect(graph["Shop.Taken"]?.doc == nil)
    }

    @Test func aModulesContractsAreCompletedTogether() throws {
        var find = Contract.Action("find")
        find.params = object("text")
        var shop = Contract(.interface("Shop"))
        shop.actions = [find]
        var contracts = ModuleContracts(
            module: Contract(.module("Market")), provides: [shop], requires: [shop],
            types: [
                "/provides/0": "Market.Shop", "/requires/0/actions/find": "Market.Shop.Find",
                "/module/observes/shop.sold": "Market.Shop.Sold",
            ])
        contracts.module.observes = [Contract.Notice("shop.sold")]
        try market().complete(&contracts)
        #expect(contracts.provides[0].doc?.hasPrefix("Where things") == true)
        #expect(contracts.provides[0].actions[0].doc == nil)
        #expect(contracts.requires[0].actions[0].doc == "Finds things.")
        #expect(contracts.module.observes[0].doc == "Something was sold.")
    }

    @Test func typesThatAreReadByHandAreFound() throws {
        let found = try market().writtenTypes([
            "/provides/0/$defs/Sub": "Market.Shop.Sub", "/requires/0/$defs/Sub": "Market.Shop.Sub",
            "/provides/0/$defs/Thing": "Market.Shop.Thing", "/provides/0/$defs/Price": "Market.Price",
            "/provides/0/actions/find": "Market.Shop.Find",
        ])
        #expect(found == [.init(type: "Market.Shop.Sub", pointer: "/provides/0/$defs/Sub")])
    }

    @Test func otherJSONIsRefused() {
        var graph = SymbolGraph()
        let error = #expect(throws: SymbolGraphError.self) { try graph.add(["symbols": []]) }
        #expect(
            error?.description
                == "a symbol graph has `module` and `symbols`, and this JSON hasn't: give the compiler's file")
    }
}
