internal import StrataContracts
internal import StrataCore
internal import StrataJSON

extension Deriver {
    /// The values that each type is checked with.
    static let checkedValues = 8

    /// Checks each type that was derived, the inner ones first: it must decode values that its schema
    /// allows, and write them as its schema allows. So a type is found that takes less than it asks
    /// for, or writes something else than it reads.
    ///
    /// The values are random, and the same each time.
    /// - Throws: `DerivingError` for the first type that fails, with the value.
    public func check() throws {
        let definitions = Dictionary(uniqueKeysWithValues: completed.map { ($0.name, $0.schema) })
        for derived in completed {
            var values = ValueMaker(derived.schema, definitions)
            let checker = SchemaChecker(derived.schema, definitions: definitions)
            for _ in 0..<Self.checkedValues {
                guard let value = values.next() else { break }
                try check(derived.type, derived, value, checker)
            }
        }
    }

    private func check(
        _ type: any Decodable.Type, _ derived: DerivedType, _ json: JSON, _ checker: SchemaChecker
    ) throws {
        let value: any Decodable
        do { value = try JSONReader().decode(type, from: json.encoded()) } catch {
            throw DerivingError(
                type, at: derived.place,
                "it doesn't take \(Self.short(json)), which its contract allows (\(Self.text(error)))")
        }
        guard let value = value as? any Encodable else { return }
        do {
            let written = try JSONWriter().encode(value)
            guard case .refused(let mismatch) = try checker.check(text: written) else { return }
            throw DerivingError(
                type, at: derived.place,
                "it reads \(Self.short(json)) and writes \(Self.short(written)), which its contract doesn't allow "
                    + "(\(mismatch))")
        } catch let error as EncodingError {
            throw DerivingError(
                type, at: derived.place, "it reads \(Self.short(json)), and can't write it again (\(error))")
        }
    }

    private static func short(_ value: JSON) -> String { short(value.encoded()) }

    private static func short(_ bytes: [UInt8]) -> String {
        let most = 200
        let text = String(decoding: bytes.prefix(most), as: UTF8.self)
        return bytes.count > most ? text + "…" : text
    }

    // MARK: Schemas that types say themselves

    /// Takes over the schema that a type says itself.
    func derive(
        _ type: any Decodable.Type, describedAs json: JSON, _ derived: DerivedType, at place: ValuePath
    ) throws {
        do { derived.schema = try Schema(json: json) } catch {
            throw DerivingError(
                type, at: place, "its contractSchema isn't a schema of contracts: \(error)",
                advice: "write it with the keywords that contracts have")
        }
        var values = derived.schema.examples
        var maker = ValueMaker(derived.schema, [:])
        if values.isEmpty, let value = maker.next() { values = [value] }
        guard !values.isEmpty else {
            throw DerivingError(
                type, at: place, "no value of its contractSchema can be made up", advice: "give it examples")
        }
        for value in values {
            do { derived.values.append(try JSONReader().decode(type, from: value.encoded())) } catch {
                throw DerivingError(
                    type, at: place,
                    "it doesn't take \(Self.short(value)), which its contractSchema allows (\(Self.text(error)))",
                    advice: "say there what it takes, and give examples")
            }
        }
    }
}

/// Random values of a schema, the same each time.
private struct ValueMaker {
    private let sampler: SchemaSampler
    private var numbers = Numbers()

    init(_ schema: Schema, _ definitions: [String: Schema]) {
        sampler = SchemaSampler(schema, definitions: definitions)
    }

    /// Returns nil if no value can be made.
    mutating func next() -> JSON? { sampler.sample(using: &numbers) }

    /// SplitMix64 (Steele and others, 2014).
    private struct Numbers: RandomNumberGenerator {
        private var state: UInt64 = 1

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }
}
