internal import StrataCore

/// One check of a value against a schema.
///
/// It works on the value's tape, where an entry's index stands for a value: so a value that a union
/// leads to several times is compared with each schema once.
struct ValueCheck: ~Copyable {
    let graph: SchemaGraph
    let tape: JSONTape
    private var steps = 0
    /// How many unions are being tried.
    private var tries = 0
    /// What was found while a union was tried.
    private var known: [Pair: Failure?] = [:]

    private struct Pair: Hashable {
        let node: Int
        let entry: UInt32
    }

    /// Why a value isn't allowed. Its words are made only for the one that is shown.
    struct Failure {
        enum Kind {
            /// The value isn't what the node allows.
            case unlike
            /// The object lacks the member at this place in the node's list.
            case missing(Int)
            /// A closed object has a member of this name that isn't listed. The entry is the name's.
            case unexpected
            /// The node is of a map's keys, and the entry is a name.
            case name
            /// The value is none of those that tell a union's objects apart. The nodes are enums of
            /// one value.
            case tags([Int])
            /// The object has none of the members that tell a union's objects apart.
            case noTag([String])
            /// The check gave up.
            case stopped(String)
        }

        let kind: Kind
        let node: Int
        let entry: UInt32

        var isStop: Bool {
            if case .stopped = kind { true } else { false }
        }
    }

    init(_ graph: SchemaGraph, _ tape: consuming JSONTape) {
        self.graph = graph
        self.tape = tape
    }

    /// Checks the whole value.
    mutating func verdict(_ root: Int) -> SchemaVerdict {
        guard let failure = check(0, root, depth: 0) else { return .allowed }
        if case .stopped(let reason) = failure.kind { return .undecided(reason) }
        return .refused(mismatch(failure))
    }

    /// Compares a value with a node.
    /// - Parameter depth: the number of arrays and objects around the value.
    private mutating func check(_ entry: UInt32, _ node: Int, depth: Int) -> Failure? {
        steps += 1
        guard steps <= SchemaChecker.mostSteps else {
            return Failure(kind: .stopped("over \(SchemaChecker.mostSteps) comparisons"), node: node, entry: entry)
        }
        switch graph[node].shape {
        case .union, .array, .tuple, .object, .map: break
        default: return isAllowed(entry, node) ? nil : Failure(kind: .unlike, node: node, entry: entry)
        }
        let pair = Pair(node: node, entry: entry)
        if tries > 0, let failure = known[pair] { return failure }
        let failure = parts(entry, node, depth: depth)
        if tries > 0 { known[pair] = .some(failure) }
        return failure
    }

    // MARK: Single values

    private mutating func isAllowed(_ entry: UInt32, _ node: Int) -> Bool {
        let kind = tape.entry(entry).pointee.kind
        switch graph[node].shape {
        case .any: return true
        case .null: return kind == .null
        case .boolean: return kind == .yes || kind == .no
        case .integer(let minimum, let maximum):
            guard kind == .number, let value = try? JSON(tape, entry) else { return false }
            return value.isWhole && value.isNumber(from: minimum, to: maximum)
        case .number(let minimum, let maximum, _):
            guard kind == .number, let value = try? JSON(tape, entry) else { return false }
            return value.isNumber(from: minimum, to: maximum)
        case .string(let text): return kind == .string && text.allows(tape.string(entry))
        case .enumeration(let values):
            steps += values.count / 8
            guard kind == .string || kind == .number, let value = try? JSON(tape, entry) else { return false }
            return values.contains { $0.isSame(as: value) }
        case .array, .tuple, .object, .map, .union: return false
        }
    }

    // MARK: Values with parts

    private mutating func parts(_ entry: UInt32, _ node: Int, depth: Int) -> Failure? {
        let (kind, count) = (tape.entry(entry).pointee.kind, Int(tape.entry(entry).pointee.end))
        let isUnion = if case .union = graph[node].shape { true } else { false }
        guard isUnion || depth < SchemaChecker.deepest || (kind != .array && kind != .object) else {
            return Failure(
                kind: .stopped("nested over \(SchemaChecker.deepest) deep"), node: node, entry: entry)
        }
        let unlike = Failure(kind: .unlike, node: node, entry: entry)
        switch graph[node].shape {
        case .union(let alternatives): return union(alternatives, entry, node, depth: depth)
        case .array(let items, let minimum, let maximum):
            guard kind == .array, count >= minimum ?? 0, count <= maximum ?? .max else { return unlike }
            return elements(entry, depth: depth) { _ in items }
        case .tuple(let nodes):
            guard kind == .array, count == nodes.count else { return unlike }
            return elements(entry, depth: depth) { nodes[$0] }
        case .object(let members):
            guard kind == .object else { return unlike }
            return object(entry, node, members, depth: depth)
        case .map(let keys, let values):
            guard kind == .object else { return unlike }
            return map(entry, keys, values, depth: depth)
        case .any, .null, .boolean, .integer, .number, .string, .enumeration: return nil
        }
    }

    private mutating func elements(_ entry: UInt32, depth: Int, _ node: (Int) -> Int) -> Failure? {
        var element = entry + 1
        var index = 0
        while element < tape.entry(entry).pointee.next {
            if let failure = check(element, node(index), depth: depth + 1) { return failure }
            element = tape.entry(element).pointee.next
            index += 1
        }
        return nil
    }

    private mutating func object(
        _ entry: UInt32, _ node: Int, _ members: SchemaNode.Members, depth: Int
    ) -> Failure? {
        steps += members.list.count
        for (place, member) in members.list.enumerated() where member.isRequired {
            if tape.value(member.name, of: entry) == 0 {
                return Failure(kind: .missing(place), node: node, entry: entry)
            }
        }
        if members.isClosed {
            for name in tape.members(of: entry) where members[tape.string(name)] == nil {
                return Failure(kind: .unexpected, node: node, entry: name)
            }
        }
        for member in members.list {
            let value = tape.value(member.name, of: entry)
            if value != 0, let failure = check(value, member.node, depth: depth + 1) { return failure }
        }
        return nil
    }

    private mutating func map(_ entry: UInt32, _ keys: Int, _ values: Int, depth: Int) -> Failure? {
        for name in tape.members(of: entry) {
            guard isAllowed(name, keys) else { return Failure(kind: .name, node: keys, entry: name) }
            if let failure = check(name + 1, values, depth: depth + 1) { return failure }
        }
        return nil
    }

    // MARK: Unions

    private mutating func union(_ alternatives: [Int], _ entry: UInt32, _ node: Int, depth: Int) -> Failure? {
        tries += 1
        defer {
            tries -= 1
            // Outside of unions, no value is compared with a schema again.
            if tries == 0, !known.isEmpty { known = [:] }
        }
        var failures: [(node: Int, failure: Failure)] = []
        for alternative in alternatives {
            guard let failure = check(entry, alternative, depth: depth) else { return nil }
            guard !failure.isStop else { return failure }
            failures.append((alternative, failure))
        }
        return nearest(failures, entry, node)
    }

    /// Chooses what to say of a value that no alternative allows.
    private func nearest(_ failures: [(node: Int, failure: Failure)], _ entry: UInt32, _ node: Int) -> Failure {
        // The others are of another kind than the value.
        let near = failures.filter { failed in
            if case .unlike = failed.failure.kind { return failed.failure.entry != entry }
            return true
        }
        guard let first = near.first else { return Failure(kind: .unlike, node: node, entry: entry) }
        guard near.count > 1 else { return first.failure }
        let tags = near.map { graph.tag(of: $0.node) }
        if let tagged = tagged(near, tags, entry, node) { return tagged }
        // What failed last was understood best.
        return near.max { $0.failure.entry < $1.failure.entry }?.failure ?? first.failure
    }

    /// Chooses among objects that all have a tag in the same member, or that each have one member.
    private func tagged(
        _ near: [(node: Int, failure: Failure)], _ tags: [SchemaTag?], _ entry: UInt32, _ node: Int
    ) -> Failure? {
        var names: [String] = []
        for (index, tag) in tags.enumerated() {
            switch tag {
            case nil: return nil
            case .only(let name):
                if tape.value(name.text, of: entry) != 0 { return near[index].failure }
                names.append(name.text)
            case .value(let member, let text):
                guard ExactName(tags[0]?.member ?? "") == member else { return nil }
                let value = tape.value(member.text, of: entry)
                if value != 0, (try? JSON(tape, value))?.description == text.text { return near[index].failure }
            }
        }
        guard names.isEmpty else {
            return names.count == tags.count ? Failure(kind: .noTag(names), node: node, entry: entry) : nil
        }
        let value = tape.value(tags[0]?.member ?? "", of: entry)
        // All of them lack that member.
        guard value != 0 else { return near[0].failure }
        let allowed = near.compactMap { near -> Int? in
            guard case .object(let members) = graph[near.node].shape else { return nil }
            return members[tags[0]?.member ?? ""]?.node
        }
        return Failure(kind: .tags(allowed), node: node, entry: value)
    }
}
