import Foundation
import StrataContracts
import StrataCore
import StrataJSON
import TestSupport
import Testing

@testable import StrataDeriving

/// A module's settings, as they are derived from a type. The runtime in Python derives the same document
/// from the twin of `ShopSettings`.
struct DerivedSettingsTests {
    private func contract(_ type: ModuleOutline.Content, _ defaults: JSON = [:]) throws -> Contract {
        var outline = ModuleOutline("Shop", Self.self)
        outline.settings = .init(type, defaults: defaults)
        return try ContractBuilder(outline, checks: true).contracts.module
    }

    private func refusal(_ type: ModuleOutline.Content, _ defaults: JSON = [:]) -> String {
        do {
            let contract = try contract(type, defaults)
            return "derived: \(String(decoding: contract.encoded(), as: UTF8.self))"
        } catch {
            return "\(error)"
        }
    }

    struct ShopSettings: Decodable {
        enum Order: String, Decodable { case name, price }
        struct Window: Decodable { var from: Int, to: Int? }
        static let defaults: JSON = [
            "shop.page": 20, "shop.rate": 0.5, "shop.order": "name", "shop.folders": ["a", "b"], "shop.most": 5,
        ]
        var page: Int
        var title: String
        var rate: Double
        var order: Order
        var folders: [String]
        var window: Window?
        var most: UInt8?
        var key: Secret<String>
        var token: Secret<UUID>?
        enum CodingKeys: String, CodingKey {
            case page = "shop.page"
            case title = "shop.title"
            case rate = "shop.rate"
            case order = "shop.order"
            case folders = "shop.folders"
            case window = "shop.window"
            case most = "shop.most"
            case key = "shop.key"
            case token = "shop.token"
        }
    }

    @Test func settingsHaveTheDocumentThatIsKept() throws {
        let derived = try contract(ShopSettings.self, ShopSettings.defaults).encoded()
        let kept = try Repository.text("Tests/DerivingTests/Settings/shop.json")
        #expect(String(decoding: derived, as: UTF8.self) == kept)
    }

    @Test func settingsAreFoundByTheirPlaces() throws {
        var outline = ModuleOutline("Shop", Self.self)
        outline.settings = .init(ShopSettings.self, defaults: ShopSettings.defaults)
        let types = try ContractBuilder(outline).contracts.types
        let type = "DerivingTests.DerivedSettingsTests.ShopSettings"
        #expect(types["/module/settings"] == type)
        #expect(types["/module/settings/properties/shop.page"] == "\(type).page")
    }

    // MARK: What is refused

    struct Page: Decodable { var page: Int }

    private static let wrongDefaults: [(JSON, String)] = [
        (["pgae": 1], "($.settings.pgae): its defaults have a value for a key that it doesn't have"),
        (
            ["page": "x"],
            "($.settings.page): its default isn't what the setting takes ($: expected an integer, found the string "
        ),
        ([20], "($.settings): its defaults aren't an object"),
    ]

    @Test(arguments: wrongDefaults)
    func wrongDefaultsAreRefused(_ defaults: JSON, _ reason: String) {
        #expect(refusal(Page.self, defaults).hasPrefix("Shop: DerivingTests.DerivedSettingsTests.Page \(reason)"))
    }

    struct Key: Decodable { var key: Secret<String> }
    struct Number: Decodable { var pin: Secret<Int> }
    struct Inner: Decodable { var login: Key }
    struct Listed: Decodable { var keys: [Secret<String>] }

    @Test func aSecretIsAStringOfItsOwnWithoutADefault() {
        #expect(refusal(Key.self, ["key": "abcd"]).contains("($.settings.key): a secret has a default"))
        #expect(!refusal(Key.self, ["key": "abcd"]).contains("abcd"))
        #expect(refusal(Number.self).contains("($.settings.pin): a secret is a string, and this one is of another"))
        #expect(refusal(Inner.self).contains("($.settings.login): a secret is in the value of a setting"))
        #expect(refusal(Listed.self).contains("($.settings.keys): a secret is in the value of a setting"))
    }

    @Test func settingsAreAnObject() {
        #expect(refusal([Int].self).contains("($.settings): settings are an object with a member for each setting"))
        #expect(refusal(String.self).contains("($.settings): settings are an object with a member for each setting"))
    }

    struct LongKey: Decodable {
        var page: Int
        init(from decoder: any Decoder) throws {
            page = try decoder.container(keyedBy: AnyKey.self).decode(Int.self, forKey: .long)
        }
    }

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
        static let long = AnyKey(stringValue: String(repeating: "k", count: 257))
    }

    @Test func aKeyHasAtMost256Bytes() {
        #expect(refusal(LongKey.self).contains("with keys of 1 to 256 bytes"))
    }

    // MARK: Secrets

    @Test func aSecretIsNeverShown() throws {
        let key = try JSONReader().decode(Key.self, from: Array(#"{"key":"abcd"}"#.utf8)).key
        #expect(key.value == "abcd")
        var dumped = ""
        dump(key, to: &dumped)
        let optional: Secret<String>? = key
        let texts = [
            "\(key)", String(reflecting: key), "\([key])", "\(Key(key: key))", "\(optional as Any)", dumped,
        ]
        for text in texts {
            #expect(text.contains("‹secret›") && !text.contains("abcd"))
        }
        #expect(Mirror(reflecting: key).children.isEmpty)
        #expect(try JSONWriter().encode([key]) == Array(#"["‹secret›"]"#.utf8))
    }
}
