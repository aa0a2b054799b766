import FoundationEssentials
import StrataCore
import StrataTesting
import Testing
import TestSupport

@testable import StrataJSON

/// Compares our coders with Foundation's, over the same values and texts. `Difference` lists
/// where ours differ on purpose.
///
/// `STRATA_FUZZ` sets how many of each are tried.
@Suite(.timeLimit(.minutes(10)))
struct DifferenceTests {
    static let rounds = ProcessInfo.processInfo.environment["STRATA_FUZZ"].flatMap { Int($0) } ?? 2_000
    private let writer = JSONWriter()
    private let reader = JSONReader()
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    init() {
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        decoder.dateDecodingStrategy = .iso8601
    }

    @Test func whatEitherWritesBothReadAsTheSame() throws {
        for seed in 0..<(Self.rounds / 5) {
            var generator = SeededGenerator(seed)
            let sample = generator.sample()
            let ours = try writer.encode(sample)
            let theirs = Array(try encoder.encode(sample))
            for bytes in [ours, theirs] {
                #expect(try reader.decode(Sample.self, from: bytes) == sample, "seed \(seed)")
                #expect(try decoder.decode(Sample.self, from: Data(bytes)) == sample, "seed \(seed)")
            }
            // Except for the order of members, both write the same.
            #expect(try JSON(parsing: ours).sorted == JSON(parsing: theirs).sorted, "seed \(seed)")
        }
    }

    @Test func bothReadTheSameOfAnyText() {
        for seed in 0..<Self.rounds {
            var generator = SeededGenerator(seed)
            var bytes = Array(generator.json().utf8)
            if !generator.oneIn(3) { generator.damage(&bytes) }
            check(bytes, "seed \(seed)")
        }
    }

    @Test func bothReadTheSameOfDamagedValues() throws {
        for seed in 0..<(Self.rounds / 5) {
            var generator = SeededGenerator(seed)
            let sample = generator.sample()
            for value in [try writer.encode(sample.shape), try writer.encode(sample.inner), try writer.encode(sample)] {
                var bytes = value
                generator.damage(&bytes)
                check(bytes, "seed \(seed)")
                compare(Sample.self, bytes, "seed \(seed)")
            }
        }
    }

    private func check(_ bytes: [UInt8], _ seed: Comment) {
        guard (try? reader.decode(Anything.self, from: bytes)) != nil else { return }
        compare(Tree.self, bytes, seed)
        compare([Inner].self, bytes, seed)
        compare(Shape.self, bytes, seed)
        compare([String: Tree].self, bytes, seed)
        compare([Int: Tree].self, bytes, seed)
        compare([Int8].self, bytes, seed)
        compare([UInt64?].self, bytes, seed)
        compare([Double].self, bytes, seed)
        compare(Few.self, bytes, seed)
        compare(String.self, bytes, seed)
    }

    private static let readByFoundationAlone: [(String, String)] = [
        ("a comma behind the last member", "{\"a\":1,}"),
        ("a name that is there twice", "{\"a\":1,\"a\":2}"),
        ("what isn't asked for isn't looked at", "{\"a\":1,\"x\":[01,\"\\ud800\"]}"),
        ("a byte order mark", "\u{FEFF}{\"a\":1}"),
        ("rounded to an integer", "{\"a\":1.0000000000000000001}"),
        ("nearly nothing is 0", "{\"a\":1e-400}"),
        (
            "up to 512 deep",
            "{\"a\":1,\"x\":" + String(repeating: "[", count: 128) + String(repeating: "]", count: 128) + "}"
        ),
    ]

    @Test(arguments: readByFoundationAlone)
    func whatOursRefusesOnPurpose(reason: String, text: String) throws {
        struct One: Decodable { var a: Int }
        #expect(throws: DecodingError.self, "\(reason)") { try reader.decode(One.self, from: Array(text.utf8)) }
        // If Foundation changes this, the difference no longer exists.
        _ = try decoder.decode(One.self, from: Data(text.utf8))
    }

    // MARK: Comparing

    private func compare<Value: Decodable & Equatable>(_ type: Value.Type, _ bytes: [UInt8], _ seed: Comment) {
        let ours = Result { try reader.decode(type, from: bytes) }
        let theirs = Result { try decoder.decode(type, from: Data(bytes)) }
        switch (ours, theirs) {
        case (.success(let one), .success(let other)):
            #expect(one == other, "\(seed): \(type) of \(String(decoding: bytes, as: UTF8.self))")
        case (.failure(let one), .failure(let other)):
            let (one, other) = (Problem(one), Problem(other))
            #expect(
                one == other || Difference.allCases.contains { $0.explains(one, other) },
                "\(seed): \(type) of \(String(decoding: bytes, as: UTF8.self))")
        case (.failure(let one), .success):
            let problem = Problem(one)
            #expect(
                Difference.allCases.contains { $0.explains(refusal: problem) },
                "\(seed): \(type) of \(String(decoding: bytes, as: UTF8.self))")
        case (.success, .failure(let other)):
            Issue.record(
                "\(seed): \(type) of \(String(decoding: bytes, as: UTF8.self)) is read, but not by Foundation: \(other)"
            )
        }
    }

    /// Accepts any value.
    private struct Anything: Decodable { init(from decoder: any Decoder) throws {} }

    private struct Few: Decodable, Equatable {
        var a: Int?
        var name: String?
        var b: [Bool]?
        var one: Double?
        enum CodingKeys: String, CodingKey {
            case name, a, one
            case b = "long enough for a word of eight"
        }
    }
}

/// Any JSON value, found by trying each type.
private indirect enum Tree: Decodable, Equatable {
    case null, bool(Bool), integer(Int), number(Double), text(String), list([Tree]), members([String: Tree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let integer = try? container.decode(Int.self) {
            self = .integer(integer)
        } else if let list = try? container.decode([Tree].self) {
            self = .list(list)
        } else if let members = try? container.decode([String: Tree].self) {
            self = .members(members)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }
}

/// The parts of an error that a program or a user would see.
struct Problem: Equatable {
    enum Kind { case keyNotFound, valueNotFound, typeMismatch, dataCorrupted, other }
    var kind = Kind.other
    var path: [String] = []
    var message = ""

    init(_ error: any Error) {
        switch error {
        case DecodingError.keyNotFound(_, let context): set(.keyNotFound, context)
        case DecodingError.valueNotFound(_, let context): set(.valueNotFound, context)
        case DecodingError.typeMismatch(_, let context): set(.typeMismatch, context)
        case DecodingError.dataCorrupted(let context): set(.dataCorrupted, context)
        default: message = "\(error)"
        }
    }

    private mutating func set(_ kind: Kind, _ context: DecodingError.Context) {
        self.kind = kind
        path = context.codingPath.map(\.stringValue)
        message = context.debugDescription
    }
}

/// The deliberate differences of our coders.
private enum Difference: CaseIterable {
    /// Foundation reads only what is asked for, and accepts a comma after the last member. Ours
    /// refuses invalid JSON before anything else.
    case allIsChecked
    /// Foundation reports a number that doesn't fit as invalid JSON. Ours says which number it
    /// is, and where.
    case misfitsAreNamed
    /// Foundation rounds a number with a fraction or exponent beyond a double's precision, and
    /// accepts it as an integer. It even reads a tiny number as 0.
    case integersAreExact
    /// Foundation doesn't report the place of a date that can't be read.
    case datesHaveAPath
    /// Foundation has no message for an invalid decimal.
    case decimalsHaveWords
    /// Foundation reads an object's members in no fixed order, and reports any of several wrong
    /// ones.
    case theFirstIsTold
    /// Foundation reports null as a wrong type where a boolean is wanted, but as a missing value
    /// everywhere else.
    case nullIsNoTruthValue

    func explains(_ ours: Problem, _ theirs: Problem) -> Bool {
        switch self {
        case .allIsChecked: ours.kind == .dataCorrupted && ours.message.hasPrefix("The given data was not valid JSON")
        case .misfitsAreNamed:
            ours.kind == .dataCorrupted && ours.message.hasPrefix("Parsed JSON number <")
                && theirs.message == "The given data was not valid JSON."
        case .integersAreExact: false
        case .datesHaveAPath: ours.message == theirs.message && theirs.message.hasPrefix("Expected date")
        case .decimalsHaveWords: ours.kind == theirs.kind && ours.path == theirs.path && theirs.message.isEmpty
        case .theFirstIsTold:
            theirs.message.hasPrefix("Expected Int key")
                || ours.path.count == theirs.path.count && ours.kind == theirs.kind && ours.message == theirs.message
        case .nullIsNoTruthValue:
            ours.kind == .valueNotFound && theirs.kind == .typeMismatch && ours.path == theirs.path
                && ours.message.contains("Bool")
        }
    }

    /// Whether it explains that ours refuses what Foundation reads.
    func explains(refusal ours: Problem) -> Bool {
        switch self {
        case .allIsChecked: ours.message.hasPrefix("The given data was not valid JSON")
        case .integersAreExact:
            ours.message.hasPrefix("Parsed JSON number <") && ours.message.contains { ".eE".contains($0) }
        case .misfitsAreNamed, .datesHaveAPath, .decimalsHaveWords, .theFirstIsTold, .nullIsNoTruthValue: false
        }
    }
}

extension JSON {
    /// The value with all members in the order of their names.
    var sorted: JSON {
        switch self {
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(
                members.map { Member($0.name, $0.value.sorted) }.sorted {
                    $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
                })
        default: self
        }
    }
}
