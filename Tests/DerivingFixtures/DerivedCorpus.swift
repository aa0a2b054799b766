package import StrataCore
internal import StrataContracts
internal import StrataJSON
internal import StrataTesting

/// The contracts of Swift types with values that these types wrote, in the lines of `ContractCorpus`, so
/// that other implementations can judge them.
package enum DerivedCorpus {
    /// Values of each schema.
    private static let values = 50

    package static func line(_ fixture: FixtureType) throws -> JSON {
        let contract = try fixture.contract()
        var samples: [JSON] = []
        for (member, schema) in schemas(contract) {
            let sampler = SchemaSampler(schema, definitions: contract.definitions)
            var generator = SeededGenerator(2)
            for _ in 0..<values {
                guard let value = sampler.sample(using: &generator) else { break }
                let written = try write(fixture.type, value)
                samples.append(["pointer": .string("#/actions/use/\(member)"), "value": written, "valid": true])
            }
        }
        return [
            "document": contract.json(), "canonical": .string(String(decoding: contract.encoded(), as: UTF8.self)),
            "changed": contract.json(), "changes": ["result": "same"], "samples": .array(samples),
        ]
    }

    private static func schemas(_ contract: Contract) -> [(String, Schema)] {
        guard let action = contract.action("use"), let params = action.params, case .reply(let reply?) = action.result
        else { return [] }
        return [("params", params), ("reply", reply)]
    }

    /// Returns a value as the type writes it that has read it.
    private static func write<Value: Codable>(_ type: Value.Type, _ value: JSON) throws -> JSON {
        try JSON(parsing: try JSONWriter().encode(try JSONReader().decode(type, from: value.encoded())))
    }
}
