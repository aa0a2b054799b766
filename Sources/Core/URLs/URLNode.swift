/// A place in the tree of one host's patterns, one level for each segment.
///
/// Equal patterns but for their bound names end at one node, which is how
/// `URLTable` sees that one is taken. No deeper than `URLPattern.mostSegments`,
/// so that recursion ends soon.
struct URLNode<Value> {
    /// What is mapped to the path that ends here.
    struct Mapping {
        var pattern: URLPattern
        var value: Value
    }

    var mapping: Mapping?
    private var literals: [DecodedText: URLNode] = [:]
    /// At most one; an array because a struct can't hold itself.
    private var bound: [URLNode] = []

    init() {}

    var isEmpty: Bool { mapping == nil && literals.isEmpty && bound.isEmpty }

    /// What is mapped for a path: of all that match it the one with a literal
    /// where the others have a bound segment, leftmost first.
    ///
    /// Visits each node once at most, and of literals only those that the path
    /// names.
    func match(_ path: ArraySlice<DecodedText>) -> Mapping? {
        guard let segment = path.first else { return mapping }
        if let found = literals[segment]?.match(path.dropFirst()) { return found }
        guard let bound = bound.first, !segment.isEmpty else { return nil }
        return bound.match(path.dropFirst())
    }

    /// What is mapped to a pattern that matches the same paths.
    func mapping(at path: ArraySlice<URLPattern.Segment>) -> Mapping? {
        switch path.first {
        case nil: mapping
        case .literal(let text): literals[text]?.mapping(at: path.dropFirst())
        case .bound: bound.first?.mapping(at: path.dropFirst())
        }
    }

    /// Maps a pattern, in place of what stood there; returns that.
    mutating func set(
        _ new: Mapping, at path: ArraySlice<URLPattern.Segment>
    ) -> Mapping? {
        switch path.first {
        case nil:
            defer { mapping = new }
            return mapping
        case .literal(let text):
            return literals[text, default: URLNode()].set(new, at: path.dropFirst())
        case .bound:
            if bound.isEmpty { bound.append(URLNode()) }
            return bound[0].set(new, at: path.dropFirst())
        }
    }

    /// Takes a mapping away, and the nodes that nothing is left in.
    mutating func remove(at path: ArraySlice<URLPattern.Segment>) -> Mapping? {
        switch path.first {
        case nil:
            defer { mapping = nil }
            return mapping
        case .literal(let text):
            guard let index = literals.index(forKey: text) else { return nil }
            let removed = literals.values[index].remove(at: path.dropFirst())
            if literals.values[index].isEmpty { literals.remove(at: index) }
            return removed
        case .bound:
            guard !bound.isEmpty else { return nil }
            let removed = bound[0].remove(at: path.dropFirst())
            if bound[0].isEmpty { bound.removeLast() }
            return removed
        }
    }

    /// Calls the body for each mapping from here on, in no order.
    func forEach(_ body: (Mapping) -> Void) {
        if let mapping { body(mapping) }
        for node in literals.values { node.forEach(body) }
        for node in bound { node.forEach(body) }
    }
}

extension URLNode: Sendable where Value: Sendable {}
extension URLNode.Mapping: Sendable where Value: Sendable {}
