import Foundation
import StrataContracts
import StrataCore
import StrataJSON
import StrataTesting
import Testing

@testable import DerivingFixtures
@testable import StrataDeriving

/// A type decodes what its contract allows, and writes what its contract allows.
struct ValueTests {
    private func decode<Value: Decodable>(_ type: Value.Type, _ value: JSON) throws -> Value {
        try JSONReader().decode(type, from: value.encoded())
    }

    @Test(arguments: FixtureType.all)
    func eachTypeTakesAndWritesWhatItsContractAllows(_ fixture: FixtureType) throws {
        let contract = try fixture.contract()
        let action = try #require(contract.action("use"))
        guard case .reply(let reply?) = action.result, let params = action.params else {
            Issue.record("a schema is missing")
            return
        }
        for schema in [params, reply] {
            let checker = contract.checker(for: schema)
            let sampler = SchemaSampler(schema, definitions: contract.definitions)
            var generator = SeededGenerator(1)
            for _ in 0..<50 {
                let value = try #require(sampler.sample(using: &generator))
                #expect(checker.check(value) == .allowed)
                let decoded = try decode(fixture.type, value) as any Encodable
                let written = try JSONWriter().encode(decoded)
                #expect(
                    try checker.check(text: written) == .allowed,
                    "\(value) is written as \(String(decoding: written, as: UTF8.self))")
            }
        }
    }

    @Test(arguments: FixtureType.all)
    func eachTypePassesItsOwnCheck(_ fixture: FixtureType) throws {
        let deriver = Deriver()
        _ = try deriver.schema(of: fixture.type, at: .root)
        try deriver.check()
    }

    private func refusal(_ type: any Decodable.Type) throws -> String {
        let deriver = Deriver()
        _ = try deriver.schema(of: type, at: .root)
        do { try deriver.check() } catch { return "\(error)" }
        return "checked"
    }

    struct Even: RawRepresentable, Codable {
        var rawValue: Int
        init?(rawValue: Int) {
            guard rawValue % 2 == 0 else { return nil }
            self.rawValue = rawValue
        }
    }
    struct UsesEven: Codable { var even: Even }

    @Test func typesThatTakeLessThanTheyAskForAreFound() throws {
        let found = try refusal(UsesEven.self)
        #expect(found.hasPrefix("DerivingTests.ValueTests.Even ($.even): it doesn't take "))
        #expect(
            found.hasSuffix("conform DerivingTests.ValueTests.Even to ContractDescribing, and say its schema there"))
    }

    struct WritesAnother: Codable {
        var page: Int
        private enum WrittenKeys: CodingKey { case number }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: WrittenKeys.self)
            try container.encode(page, forKey: .number)
        }
    }

    @Test func typesThatWriteSomethingElseThanTheyReadAreFound() throws {
        let found = try refusal(WritesAnother.self)
        #expect(found.hasPrefix("DerivingTests.ValueTests.WritesAnother ($): it reads {\"page\":"))
        #expect(found.contains("which its contract doesn't allow ($.page: expected an integer, found nothing"))
    }

    struct TakesOneWord: Codable, ContractDescribing {
        static let contractSchema: JSON = ["type": "string", "examples": ["yes"]]
        init(from decoder: any Decoder) throws {
            guard try decoder.singleValueContainer().decode(String.self) == "yes" else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "Not the word."))
            }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode("yes")
        }
    }

    @Test func schemasThatTypesSayThemselvesAreCheckedToo() throws {
        #expect(try refusal(TakesOneWord.self).contains("which its contract allows (Not the word.)"))
    }

    @Test func rangesOfTheStandardLibraryAreRefused() throws {
        #expect(
            try refusal(Range<Int>.self).hasSuffix(": use a type of your own that conforms to ContractDescribing"))
    }
}
