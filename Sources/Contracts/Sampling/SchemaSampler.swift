public import StrataCore

/// Makes random values that a schema allows.
///
/// Recursion ends: 6 arrays and objects deep, and after some 200 values, optional members and
/// elements are left out, and of a union the smallest alternative is taken. A string with a
/// `pattern`, or with a format that Strata doesn't know, is one of its examples.
public struct SchemaSampler: Sendable {
    private static let deepest = 6
    private static let mostValues = 200

    private let graph: SchemaGraph
    private let root: Int
    /// The size of a small value of each node; nil if none can be made.
    private let sizes: [Int?]

    /// Prepares a schema. The time is proportional to it and to what it refers to, times how deep
    /// definitions refer to each other.
    /// - Parameter definitions: the schemas that it may refer to.
    public init(_ schema: Schema, definitions: [String: Schema] = [:]) {
        var graph = SchemaGraph(definitions)
        root = graph.add(schema)
        self.graph = graph
        sizes = graph.smallSizes()
    }

    /// Returns a value; nil if none can be made, because examples are missing, the type is infinite,
    /// or each value has over 10,000 parts or characters. The same numbers of the generator give the same value.
    public func sample(using generator: inout some RandomNumberGenerator) -> JSON? {
        guard sizes[root] != nil else { return nil }
        var left = Self.mostValues
        return value(root, depth: 0, &left, &generator)
    }

    // MARK: Values

    /// - Precondition: The node has a size.
    private func value(
        _ node: Int, depth: Int, _ left: inout Int, _ generator: inout some RandomNumberGenerator
    ) -> JSON {
        left -= 1
        let isEnding = depth >= Self.deepest || left <= 0
        switch graph[node].shape {
        case .any: return generator.anyValue(isEnding ? 1 : 4)
        case .null: return .null
        case .boolean: return .bool(generator.chance(2))
        case .integer(let minimum, let maximum): return .integer(generator.integer(minimum, maximum))
        case .number(let minimum, let maximum, _): return generator.number(minimum, maximum)
        case .string(let text): return .string(generator.string(text, graph[node].schema.examples) ?? "")
        case .enumeration(let values): return values[generator.below(values.count)]
        case .array(let items, let minimum, let maximum):
            var count = minimum ?? 0
            if !isEnding, sizes[items] != nil { count = max(count, min(maximum ?? .max, count + generator.below(4))) }
            return .array((0..<count).map { _ in value(items, depth: depth + 1, &left, &generator) })
        case .tuple(let nodes): return .array(nodes.map { value($0, depth: depth + 1, &left, &generator) })
        case .object(let members):
            var given: [JSON.Member] = []
            for member in members.list where sizes[member.node] != nil {
                guard member.isRequired || !isEnding && generator.chance(2) else { continue }
                given.append(JSON.Member(member.name, value(member.node, depth: depth + 1, &left, &generator)))
            }
            return .object(given)
        case .map(let keys, let values): return map(keys, values, depth: depth, isEnding, &left, &generator)
        case .union(let alternatives):
            let possible = alternatives.filter { sizes[$0] != nil }
            let smallest = possible.min { (sizes[$0] ?? 0) < (sizes[$1] ?? 0) }
            // because a union has a size only if one of its alternatives does
            let chosen = isEnding ? smallest! : possible[generator.below(possible.count)]
            return value(chosen, depth: depth, &left, &generator)
        }
    }

    private func map(
        _ keys: Int, _ values: Int, depth: Int, _ isEnding: Bool, _ left: inout Int,
        _ generator: inout some RandomNumberGenerator
    ) -> JSON {
        var given: [JSON.Member] = []
        guard !isEnding, sizes[keys] != nil, sizes[values] != nil else { return .object([]) }
        for _ in 0..<generator.below(4) {
            guard let name = value(keys, depth: depth, &left, &generator).string,
                !given.contains(where: { ExactName($0.name) == ExactName(name) })
            else { continue }
            given.append(JSON.Member(name, value(values, depth: depth + 1, &left, &generator)))
        }
        return .object(given)
    }
}
