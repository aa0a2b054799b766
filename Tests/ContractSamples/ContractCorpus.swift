internal import StrataComparing
package import StrataContracts
package import StrataCore
internal import StrataTesting

/// Random contracts with what this implementation says of them, one a line, so that other
/// implementations can be compared with it.
///
/// A line is a JSON object. `document` is a contract, `canonical` its canonical text, `changed`
/// another version, and `changes` has the `result` of their comparison. `samples` are values, each with the `pointer`
/// of a schema in `document` and whether that schema allows the `value` (`valid`).
package enum ContractCorpus {
    /// Returns a line without its end. The same seed gives the same line.
    package static func line(seed: Int) -> JSON {
        var random = RandomContract(seed: seed)
        var mutation = ContractMutation(seed: seed &+ 1_000_000_007)
        let contract = random.contract()
        let changed = mutation.changed(contract)
        var samples: [JSON] = []
        for (pointer, schema) in roots(contract) {
            let checker = contract.checker(for: schema)
            let sampler = SchemaSampler(schema, definitions: contract.definitions)
            for round in 0..<3 {
                guard var value = sampler.sample(using: &random.generator) else { break }
                if round > 0 { value = mutation.changed(value) }
                guard let isValid = isAllowed(value, by: checker) else { continue }
                samples.append(["pointer": .string(pointer), "value": value, "valid": .bool(isValid)])
            }
        }
        return [
            "document": contract.json(), "canonical": .string(String(decoding: contract.encoded(), as: UTF8.self)),
            "changed": changed.json(),
            "changes": ["result": .string(changed.changes(from: contract).result.rawValue)],
            "samples": .array(samples),
        ]
    }

    private static func isAllowed(_ value: JSON, by checker: SchemaChecker) -> Bool? {
        switch checker.check(value) {
        case .allowed: true
        case .refused: false
        case .undecided: nil
        }
    }

    /// Returns a contract's schemas with their places, as URI fragments with JSON pointers.
    package static func roots(_ contract: Contract) -> [(pointer: String, schema: Schema)] {
        var roots: [(String, Schema)] = []
        func add(_ place: [String], _ schema: Schema?) {
            guard let schema else { return }
            let steps = place.map { step in
                step.replacing("~", with: "~0").replacing("/", with: "~1")
            }
            roots.append(("#/" + steps.joined(separator: "/"), schema))
        }
        for action in contract.actions {
            add(["actions", action.name, "params"], action.params)
            switch action.result {
            case .reply(let schema): add(["actions", action.name, "reply"], schema)
            case .elements(let schema): add(["actions", action.name, "element"], schema)
            }
        }
        for property in contract.properties { add(["properties", property.name, "value"], property.value) }
        for (kind, notices) in [("broadcasts", contract.broadcasts), ("reports", contract.reports)] {
            for notice in notices { add([kind, notice.name, "content"], notice.content) }
        }
        add(["settings"], contract.settings.map { Schema(.object($0)) })
        for (name, schema) in contract.definitions.sorted(by: { $0.key < $1.key }) { add(["$defs", name], schema) }
        return roots
    }
}
