/// Counts the alternatives that a schema has through `$ref` and `anyOf` alone, and refuses a
/// reference that leads to itself that way.
struct AlternativeCount {
    private let definitions: [String: Schema]
    /// The counted definitions: their alternatives, and the steps to the farthest one.
    private var counted: [String: (alternatives: Int, steps: Int)] = [:]
    private var open: Set<String> = []

    init(_ definitions: [String: Schema]) { self.definitions = definitions }

    /// Returns the number of a schema's alternatives.
    /// - Parameter path: the schema's place, for errors.
    mutating func count(_ schema: Schema, _ path: ValuePath) throws(ContractError) -> Int {
        try count(schema, path, depth: 0).alternatives
    }

    private mutating func count(
        _ schema: Schema, _ path: ValuePath, depth: Int
    ) throws(ContractError) -> (alternatives: Int, steps: Int) {
        guard depth <= ContractLimits.schemaDepth else { throw Self.tooDeep(path) }
        let result: (alternatives: Int, steps: Int)
        switch schema.form {
        case .union(let alternatives):
            var (sum, steps) = (0, 0)
            for alternative in alternatives {
                let inner = try count(alternative, path, depth: depth + 1)
                sum += inner.alternatives
                steps = max(steps, inner.steps + 1)
            }
            result = (sum, steps)
        case .reference(let name):
            if let known = counted[name] {
                result = (known.alternatives, known.steps + 1)
                break
            }
            guard open.insert(name).inserted else {
                throw ContractError(path, "$ref leads through \(name) back to itself")
            }
            // The reader has found every reference's target.
            let inner = try count(definitions[name] ?? Schema(.any), path, depth: depth + 1)
            open.remove(name)
            counted[name] = inner
            result = (inner.alternatives, inner.steps + 1)
        default: result = (1, 0)
        }
        guard depth + result.steps <= ContractLimits.schemaDepth else { throw Self.tooDeep(path) }
        guard result.alternatives <= ContractLimits.alternatives else {
            throw ContractError(
                path, "over \(ContractLimits.alternatives) alternatives, with those that it refers to")
        }
        return result
    }

    private static func tooDeep(_ path: ValuePath) -> ContractError {
        ContractError(path, "$ref and anyOf alone lead over \(ContractLimits.schemaDepth) schemas deep")
    }
}
