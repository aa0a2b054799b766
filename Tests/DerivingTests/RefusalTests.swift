import Foundation
import StrataContracts
import StrataCore
import Testing

@testable import DerivingFixtures
@testable import StrataDeriving

/// A type of which no contract can be derived is refused, with its name, its place and what to do.
struct RefusalTests {
    private func refusal(_ type: any Decodable.Type) -> String {
        do {
            return "derived: \(try Deriver().schema(of: type, at: .root))"
        } catch {
            return "\(error)"
        }
    }

    private func described(_ name: String) -> String {
        "conform DerivingTests.\(name) to ContractDescribing, and say its schema there"
    }

    // MARK: Branches

    struct AsksContains: Decodable {
        private enum Keys: CodingKey { case old, new }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            _ = try container.decode(Int.self, forKey: container.contains(.old) ? .old : .new)
        }
    }

    @Test func containsIsRefused() {
        #expect(
            refusal([AsksContains].self)
                == "DerivingTests.RefusalTests.AsksContains ($[*].old): its init(from:) asks contains(old), so its members "
                + "depend on the data: " + described("RefusalTests.AsksContains"))
    }

    struct AsksAllKeys: Decodable {
        private struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            for key in container.allKeys { _ = try container.decode(Int.self, forKey: key) }
        }
    }

    @Test func allKeysAreRefused() {
        #expect(
            refusal([String: AsksAllKeys].self)
                == "DerivingTests.RefusalTests.AsksAllKeys ($.*): its init(from:) asks for allKeys, so its members depend on "
                + "the data: " + described("RefusalTests.AsksAllKeys"))
    }

    enum KeyedByStructure: Decodable {
        case any
        private struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        init(from decoder: any Decoder) throws {
            guard try decoder.container(keyedBy: Key.self).allKeys.first?.stringValue == "any" else {
                throw CancellationError()
            }
            self = .any
        }
    }

    @Test func allKeysThatAreNoCasesAreRefused() {
        #expect(
            refusal(KeyedByStructure.self).hasPrefix(
                "DerivingTests.RefusalTests.KeyedByStructure ($): its init(from:) asks for allKeys"))
    }

    struct AsksForNull: Decodable {
        private enum Keys: CodingKey { case value }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            if try !container.decodeNil(forKey: .value) { _ = try container.decode(Int.self, forKey: .value) }
        }
    }

    @Test func nullOfAMemberIsRefused() {
        #expect(
            refusal(AsksForNull.self)
                == "DerivingTests.RefusalTests.AsksForNull ($.value): its init(from:) asks decodeNil(value), so its members "
                + "depend on the data: " + described("RefusalTests.AsksForNull"))
    }

    struct AsksForCount: Decodable {
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            _ = try container.decode(Int.self)
            if container.count == 2 { _ = try container.decode(Int.self) }
        }
    }

    struct HasTail: Decodable {
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            _ = try container.decode(Int.self)
            if !container.isAtEnd { _ = try container.decode(String.self) }
        }
    }

    struct AsksForNullElement: Decodable {
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            if try !container.decodeNil() { _ = try container.decode(Int.self) }
        }
    }

    struct ReadsNoElement: Decodable {
        init(from decoder: any Decoder) throws { _ = try decoder.unkeyedContainer() }
    }

    @Test func arraysThatDependOnTheDataAreRefused() {
        #expect(refusal(AsksForCount.self).contains("asks how many elements an array has, so they depend on the data"))
        #expect(refusal(HasTail.self).contains("reads an array of any length, with elements of more than one type"))
        #expect(refusal(AsksForNullElement.self).contains("asks an array for decodeNil()"))
        #expect(refusal(ReadsNoElement.self).contains("reads no element of an array"))
    }

    struct TwoTypes: Decodable {
        private enum Keys: CodingKey { case id }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            _ = try container.decode(Int.self, forKey: .id)
            _ = try container.decode(String.self, forKey: .id)
        }
    }

    @Test func oneMemberOfTwoTypesIsRefused() {
        #expect(
            refusal(TwoTypes.self)
                == "DerivingTests.RefusalTests.TwoTypes ($.id): its init(from:) asks for `id` as two types: "
                + described("RefusalTests.TwoTypes"))
    }

    struct TwoKinds: Decodable {
        private enum Keys: CodingKey { case id }
        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .id)
            _ = try decoder.singleValueContainer().decode(String.self)
        }
    }

    @Test func oneValueOfTwoKindsIsRefused() {
        #expect(refusal(TwoKinds.self).contains("reads one value as two kinds"))
    }

    struct Tagged: Decodable {
        enum Kind: String, Decodable { case number, text, none }
        private enum Keys: CodingKey { case kind, number, text }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            switch try container.decode(Kind.self, forKey: .kind) {
            case .number: _ = try container.decode(Int.self, forKey: .number)
            case .text: _ = try container.decode(String.self, forKey: .text)
            case .none: break
            }
        }
    }

    @Test func membersThatDependOnAnotherAreRefused() {
        #expect(
            refusal([Tagged?].self)
                == "DerivingTests.RefusalTests.Tagged ($[*].text): its init(from:) asks for other members when their values "
                + "are others: " + described("RefusalTests.Tagged"))
    }

    struct DependsOnPresence: Decodable {
        private enum Keys: CodingKey { case first, second }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            if try container.decodeIfPresent(Int.self, forKey: .first) != nil {
                _ = try container.decode(Int.self, forKey: .second)
            }
        }
    }

    @Test func membersThatDependOnAnOptionalOneAreRefused() {
        #expect(refusal(DependsOnPresence.self).contains("($.second): its init(from:) asks for other members"))
    }

    // MARK: Errors that are caught

    struct AnyOfThree: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if (try? container.decode(Bool.self)) != nil { return }
            if (try? container.decode(Int.self)) != nil { return }
            _ = try container.decode(String.self)
        }
    }

    struct Lenient: Decodable {
        private enum Keys: CodingKey { case page }
        init(from decoder: any Decoder) throws {
            _ = (try? decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .page)) ?? 1
        }
    }

    struct DefaultForMissing: Decodable {
        private enum Keys: CodingKey { case name, page }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            _ = try container.decode(String.self, forKey: .name)
            do { _ = try container.decode(Int.self, forKey: .page) } catch DecodingError.keyNotFound {}
        }
    }

    struct Lossy: Decodable {
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd { _ = try? container.decode(Int.self) }
        }
    }

    struct WhileItDecodes: Decodable {
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while (try? container.decode(Int.self)) != nil {}
        }
    }

    @Test func typesThatGoOnAfterAnErrorAreRefused() {
        #expect(
            refusal(AnyOfThree.self)
                == "DerivingTests.RefusalTests.AnyOfThree ($): its init(from:) goes on after a value of another type, so it "
                + "takes more than it asks for: " + described("RefusalTests.AnyOfThree"))
        #expect(refusal(Lenient.self).contains("($.page): its init(from:) goes on after a value of another type"))
        #expect(refusal(DefaultForMissing.self).contains("($.page): its init(from:) goes on without this value"))
        #expect(refusal(Lossy.self).contains("($[0]): its init(from:) goes on after a value of another type"))
        #expect(refusal(WhileItDecodes.self).contains("its init(from:) asks for more than 4096 values"))
    }

    // MARK: Values

    struct NeedsWord: Decodable {
        init(from decoder: any Decoder) throws {
            let word = try decoder.singleValueContainer().decode(String.self)
            guard word == "abracadabra" else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "That isn't the word."))
            }
        }
    }

    @Test func typesThatThrowForEachValueAreRefused() {
        #expect(
            refusal(NeedsWord.self)
                == "DerivingTests.RefusalTests.NeedsWord ($): its init(from:) throws for each of the 7 values that were tried "
                + "(That isn't the word.): " + described("RefusalTests.NeedsWord"))
    }

    struct NeedsSome: Codable {
        var names: [String]
        var count: Int
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            names = try container.decode([String].self, forKey: .names)
            count = try container.decode(Int.self, forKey: .count)
            guard !names.isEmpty, !names.contains(""), count > 0 else { throw CancellationError() }
        }
    }

    @Test func valuesThatATypeDoesNotTakeAreFollowedByOthers() throws {
        #expect(
            try Deriver().contents(of: NeedsSome.self, at: .root).form
                == .object(
                    .init([
                        .init("names", Schema(.array(Schema(.string(.init())), minimum: nil, maximum: nil))),
                        .init("count", Schema(.integer(minimum: nil, maximum: nil))),
                    ])))
    }

    // MARK: Types

    struct Corner: Hashable, Codable { var x: Int }

    @Test func mapsByOtherKeysAreRefused() {
        #expect(
            refusal([Corner: Int].self)
                == "Dictionary<DerivingTests.RefusalTests.Corner, Int> ($): it is written as an array of keys and values in "
                + "turn, because DerivingTests.RefusalTests.Corner isn't a key: conform "
                + "DerivingTests.RefusalTests.Corner to CodingKeyRepresentable")
    }

    enum Ratio: Double, Codable { case half = 0.5, whole = 1 }

    @Test func rawValuesOfOtherTypesAreRefused() {
        #expect(refusal(Ratio.self).contains("its raw values aren't strings or integers of 64 bits"))
    }

    final class Endless: Codable { var next: Endless }
    enum EndlessCases: Codable {
        case left(Link), right(Link)
        final class Link: Codable { var other: EndlessCases }
    }
    final class EndlessPair: Codable {
        struct Half: Codable { var other: EndlessPair }
        var half: Half
    }

    @Test func typesWithoutAnEndAreRefused() {
        #expect(
            refusal(Endless.self)
                == "DerivingTests.RefusalTests.Endless ($): each of its values has another one in it, without an end: make "
                + "the inner one optional, or an array")
        #expect(refusal(EndlessCases.self).contains("each of its values has another one in it"))
        #expect(refusal(EndlessPair.self).contains("EndlessPair ($): each of its values has another one in it"))
    }

    final class Deeper<Value: Codable>: Codable { var next: Deeper<[Value]>? }

    @Test func typesThatNestForEverAreRefused() {
        #expect(refusal(Deeper<Int>.self).contains("types are nested deeper than 48 here"))
    }

    enum TooManyCases: Codable {
        case a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22
        case b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17, b18, b19, b20, b21, b22
        case c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22
    }

    @Test func moreCasesThanAContractTakesAreRefused() {
        #expect(
            refusal(TooManyCases.self).hasSuffix(
                "it has 69 cases, and a contract takes 64: give it a raw type, or conform it to ContractDescribing"))
    }

    struct BadSchema: Codable, ContractDescribing { static let contractSchema: JSON = ["type": "text"] }
    struct BadExample: Codable, ContractDescribing {
        var value: Int
        static let contractSchema: JSON = ["type": "object", "examples": [[:]]]
    }
    struct NoExample: Codable, ContractDescribing {
        static let contractSchema: JSON = ["type": "string", "pattern": "^a+$"]
    }

    @Test func schemasThatTypesSayThemselvesAreChecked() {
        #expect(refusal(BadSchema.self).contains("its contractSchema isn't a schema of contracts: $.type"))
        #expect(
            refusal(BadExample.self)
                == "DerivingTests.RefusalTests.BadExample ($): it doesn't take {}, which its contractSchema allows (no value "
                + "for value): say there what it takes, and give examples")
        #expect(
            refusal(NoExample.self)
                == "DerivingTests.RefusalTests.NoExample ($): no value of its contractSchema can be made up: give it examples"
        )
    }

    @Test func placesAreThoseInTheContract() throws {
        struct Outer: Codable { var list: [[String: Inner]] }
        struct Inner: Codable { var lossy: UsesAny }
        struct UsesAny: Codable {
            init(from decoder: any Decoder) throws { _ = try AnyOfThree(from: decoder) }
            func encode(to encoder: any Encoder) throws {}
        }
        #expect(refusal(Outer.self).hasPrefix("DerivingTests.RefusalTests.UsesAny ($.list[*].*.lossy): "))
    }
}
