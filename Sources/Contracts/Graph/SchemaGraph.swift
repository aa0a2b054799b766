internal import StrataCore

/// Schemas as numbered nodes, without references: whoever refers to a definition has its node.
///
/// A number can stand for a schema in a memo, and recursion is a circle of nodes. The alternatives
/// of a union are flat: none is a union itself. The time and the memory are proportional to the
/// schemas that were added and to the definitions that they reach.
///
/// It takes any schemas. Where they break the rules that a reader enforces, a missing definition is
/// any value, and a union that leads only to itself has no alternatives.
package struct SchemaGraph: Sendable {
    private(set) var nodes: [SchemaNode] = []
    private var documents: [Document]
    /// The document whose schema is being added.
    private var current = 0
    /// The definitions that have a node, but whose schema isn't added yet.
    private var waiting: [(name: String, node: Int)] = []

    /// The definitions of a document, and the nodes of those that were reached.
    private struct Document {
        let definitions: [String: Schema]
        var placed: [String: Int] = [:]
    }

    /// - Parameter documents: the definitions of each document whose schemas will be added.
    package init(_ documents: [String: Schema]...) { self.documents = documents.map { Document(definitions: $0) } }

    package subscript(_ node: Int) -> SchemaNode { nodes[node] }

    /// Returns a node's alternatives; a node that isn't a union is its own only one.
    package func alternatives(of node: Int) -> [Int] {
        if case .union(let alternatives) = nodes[node].shape { return alternatives }
        return [node]
    }

    /// Adds a schema, and what it refers to.
    /// - Parameter document: the number of the document that it is from.
    /// - Returns: its node.
    package mutating func add(_ schema: Schema, of document: Int = 0) -> Int {
        current = document
        let first = nodes.count
        let node = place(schema)
        while let (name, node) = waiting.popLast() {
            // because only definitions wait
            fill(node, with: definitions[name]!)
        }
        for node in first..<nodes.count { flatten(node) }
        return node
    }

    private var definitions: [String: Schema] { documents[current].definitions }

    // MARK: Nodes

    private mutating func place(_ schema: Schema) -> Int {
        if case .reference(let name) = schema.form { return node(of: name) }
        nodes.append(SchemaNode(schema))
        let node = nodes.count - 1
        fill(node, with: schema)
        return node
    }

    /// Returns the node of a definition.
    private mutating func node(of name: String) -> Int {
        let name = target(of: name)
        if let node = documents[current].placed[name] { return node }
        let definition = definitions[name]
        nodes.append(SchemaNode(definition ?? Schema(.any)))
        documents[current].placed[name] = nodes.count - 1
        if definition != nil { waiting.append((name, nodes.count - 1)) }
        return nodes.count - 1
    }

    /// Follows definitions that are only references.
    private func target(of name: String) -> String {
        var name = name
        for _ in 0...ContractLimits.schemaDepth {
            guard case .reference(let next)? = definitions[name]?.form else { return name }
            name = next
        }
        return ""
    }

    private mutating func fill(_ node: Int, with schema: Schema) {
        let shape: SchemaNode.Shape
        switch schema.form {
        case .any, .reference: shape = .any
        case .null: shape = .null
        case .boolean: shape = .boolean
        case .integer(let minimum, let maximum): shape = .integer(minimum: minimum, maximum: maximum)
        case .number(let minimum, let maximum, let format):
            shape = .number(minimum: minimum, maximum: maximum, format: format)
        case .string(let text): shape = .string(text)
        case .enumeration(let values): shape = .enumeration(values)
        case .array(let items, let minimum, let maximum):
            shape = .array(place(items), minimum: minimum, maximum: maximum)
        case .tuple(let elements): shape = .tuple(elements.map { place($0) })
        case .object(let members):
            shape = .object(
                SchemaNode.Members(
                    members.properties.map { property in
                        SchemaNode.Member(property, notes: notes(of: property.schema), node: place(property.schema))
                    }, isClosed: members.isClosed))
        case .map(let keys, let values):
            shape = .map(keys: place(keys ?? Schema(.string(.init()))), values: place(values))
        case .union(let alternatives): shape = .union(alternatives.map { place($0) })
        }
        nodes[node].shape = shape
    }

    /// Returns what is said about a member's value, beside a reference and at its target.
    private func notes(of schema: Schema) -> SchemaNode.Notes {
        var notes = SchemaNode.Notes(schema)
        var form = schema.form
        for _ in 0...ContractLimits.schemaDepth {
            guard case .reference(let name) = form, let next = definitions[name] else { break }
            notes.add(SchemaNode.Notes(next))
            form = next.form
        }
        return notes
    }

    // MARK: Unions

    private mutating func flatten(_ node: Int) {
        guard case .union(let members) = nodes[node].shape else { return }
        var flat: [Int] = []
        var seen: Set<Int> = [node]
        var waiting = Array(members.reversed())
        while let next = waiting.popLast() {
            guard seen.insert(next).inserted else { continue }
            if case .union(let inner) = nodes[next].shape { waiting += inner.reversed() } else { flat.append(next) }
        }
        nodes[node].shape = .union(flat)
    }
}
