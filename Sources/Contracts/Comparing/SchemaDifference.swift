internal import StrataContracts
internal import StrataCore

/// Lists the differences between two schemas.
///
/// `SchemaRelation` decides; this finds the places. It reports a breaking change exactly where the
/// relation says no, and any change exactly where the schemas aren't the same.
struct SchemaDifference {
    /// Who knows the new schema, and who the old one.
    enum Direction {
        /// Senders know the old schema, receivers the new one.
        case input
        /// Senders know the new schema, receivers the old one.
        case output
    }

    var relation: SchemaRelation
    var comparison: ContractComparison
    private var direction = Direction.input
    /// The pairs that were listed since the walk began, so that recursion ends.
    private var seen: Set<Pair> = []
    private var noted: Set<Pair> = []
    private var depth = 0

    private struct Pair: Hashable {
        let old: Int
        let new: Int
    }

    init(_ graph: SchemaGraph, _ comparison: ContractComparison) {
        relation = SchemaRelation(graph)
        self.comparison = comparison
    }

    /// Compares two schemas of the graph, and all in them.
    mutating func compare(_ old: Int, _ new: Int, _ direction: Direction, _ path: ValuePath) {
        self.direction = direction
        (seen, noted) = ([], [])
        compare(old, new, path)
    }

    /// Goes one step deeper, unless that is too deep.
    private mutating func descend(_ walk: (inout Self) -> Void) {
        guard depth < SchemaRelation.deepest, !relation.isExhausted else {
            relation.hasGivenUp = true
            return
        }
        depth += 1
        walk(&self)
        depth -= 1
    }

    private var graph: SchemaGraph { relation.graph }

    /// Returns the sender's side first.
    private func sides<Side>(_ old: Side, _ new: Side) -> (sender: Side, receiver: Side) {
        direction == .input ? (old, new) : (new, old)
    }

    private mutating func isTaken(_ sender: Int, by receiver: Int) -> Bool {
        relation.takes(receiver, from: sender, isStrict: direction == .input)
    }

    private mutating func add(_ isBreaking: Bool, _ path: ValuePath, _ old: String, _ new: String) {
        comparison.add(isBreaking ? .breaking : .compatible, path, old, new)
    }

    // MARK: Walk

    private mutating func compare(_ old: Int, _ new: Int, _ path: ValuePath) {
        guard !relation.areSame(old, new) else { return compareNotes(old, new, path) }
        guard seen.insert(Pair(old: old, new: new)).inserted else { return }
        descend { $0.compareParts(old, new, path) }
    }

    private mutating func compareParts(_ old: Int, _ new: Int, _ path: ValuePath) {
        let (before, after) = (graph.alternatives(of: old), graph.alternatives(of: new))
        guard before == [old], after == [new] else { return compareUnions(old, new, before, after, path) }
        switch (graph[old].shape, graph[new].shape) {
        case (.object(let before), .object(let after)): compareObjects(before, after, path)
        case (.array(let before, let low, let high), .array(let after, let minimum, let maximum)):
            compareCounts((low, high), (minimum, maximum), path)
            compare(before, after, .elements(of: path))
        case (.tuple(let before), .tuple(let after)) where before.count == after.count:
            for (index, pair) in zip(before, after).enumerated() { compare(pair.0, pair.1, path.element(index)) }
        case (.map(let keys, let before), .map(let newKeys, let after)):
            compareKeys(keys, newKeys, path)
            compare(before, after, .members(of: path))
        case (.enumeration(let before), .enumeration(let after)): compareValues(before, after, path)
        default:
            let (sender, receiver) = sides(old, new)
            add(!isTaken(sender, by: receiver), path, words(old), words(new))
        }
    }

    private mutating func compareObjects(_ old: SchemaNode.Members, _ new: SchemaNode.Members, _ path: ValuePath) {
        for member in old.list {
            let place = path.member(member.name)
            guard let other = new[member.name] else {
                // Receivers of an input would ignore what is still sent, and nobody would notice.
                add(direction == .input || member.isRequired, place, words(member), "absent")
                continue
            }
            if member.isRequired != other.isRequired {
                let (sender, receiver) = sides(member, other)
                add(
                    receiver.isRequired && !sender.isRequired, place, member.isRequired ? "required" : "optional",
                    other.isRequired ? "required" : "optional")
            }
            compareNotes(member.notes, other.notes, place)
            compare(member.node, other.node, place)
        }
        for member in new.list where old[member.name] == nil {
            add(
                direction == .input ? member.isRequired : old.isClosed, path.member(member.name), "absent",
                words(member))
        }
        guard old.isClosed != new.isClosed else { return }
        let (sender, receiver) = sides(old, new)
        add(
            receiver.isClosed && !sender.isClosed, path, old.isClosed ? "no other members" : "other members allowed",
            new.isClosed ? "no other members" : "other members allowed")
    }

    private mutating func compareCounts(
        _ old: (low: Int?, high: Int?), _ new: (low: Int?, high: Int?), _ path: ValuePath
    ) {
        let before = (low: old.low ?? 0, high: old.high ?? .max)
        let after = (low: new.low ?? 0, high: new.high ?? .max)
        guard before != after else { return }
        let (sender, receiver) = sides(before, after)
        add(
            sender.low < receiver.low || sender.high > receiver.high, path,
            SchemaWords.words(Schema(.array(Schema(.any), minimum: old.low, maximum: old.high))),
            SchemaWords.words(Schema(.array(Schema(.any), minimum: new.low, maximum: new.high))))
    }

    private mutating func compareKeys(_ old: Int, _ new: Int, _ path: ValuePath) {
        guard !relation.areSame(old, new) else { return }
        let (sender, receiver) = sides(old, new)
        add(!isTaken(sender, by: receiver), path, "names: \(words(old))", "names: \(words(new))")
    }

    private mutating func compareValues(_ old: [JSON], _ new: [JSON], _ path: ValuePath) {
        func others(_ values: [JSON], than known: [JSON]) -> [String] {
            let known = Set(known.map { ExactName($0.description) })
            return values.filter { !known.contains(ExactName($0.description)) }.map(Words.short)
        }
        let (removed, added) = (others(old, than: new), others(new, than: old))
        if !removed.isEmpty {
            add(direction == .input, path, Words.list(SchemaWords.cut(removed), last: "and"), "absent")
        }
        if !added.isEmpty {
            add(direction == .output, path, "absent", Words.list(SchemaWords.cut(added), last: "and"))
        }
    }

    // MARK: Unions

    private mutating func compareUnions(_ old: Int, _ new: Int, _ before: [Int], _ after: [Int], _ path: ValuePath) {
        let (sender, receiver) = sides(old, new)
        var unpairedOld = before
        var unpairedNew = after
        for (one, other) in pairs(before, after) {
            let (sent, taker) = sides(one, other)
            // If other alternatives take what this one doesn't, they aren't one that changed.
            guard isTaken(sent, by: taker) || !isTaken(sent, by: receiver) else { continue }
            unpairedOld.removeAll { $0 == one }
            unpairedNew.removeAll { $0 == other }
            compare(one, other, path)
        }
        let absent = "no such alternative"
        let (sent, taken) = sides(unpairedOld, unpairedNew)
        for node in sent {
            let isBreaking = !isTaken(node, by: receiver)
            guard isBreaking || !relation.takes(receiver, from: node, isStrict: true) else { continue }
            let (old, new) = sides(words(node), absent)
            add(isBreaking, path, old, new)
        }
        for node in taken where !relation.takes(sender, from: node, isStrict: true) {
            let (old, new) = sides(absent, words(node))
            add(false, path, old, new)
        }
    }

    /// Returns the alternatives that are the only ones of their kind on both sides.
    private func pairs(_ old: [Int], _ new: [Int]) -> [(Int, Int)] {
        let after = Dictionary(grouping: new) { kind(of: $0) }
        let before = Dictionary(grouping: old) { kind(of: $0) }
        return old.compactMap { node in
            let kind = kind(of: node)
            guard before[kind]?.count == 1, let others = after[kind], others.count == 1 else { return nil }
            return (node, others[0])
        }
    }

    private enum Kind: Hashable {
        case any, null, boolean, number, string, array, map
        case object(SchemaTag?)
    }

    private func kind(of node: Int) -> Kind {
        switch graph[node].shape {
        case .any, .union: .any
        case .null: .null
        case .boolean: .boolean
        case .integer, .number: .number
        case .string: .string
        case .enumeration(let values): values.first?.string == nil ? .number : .string
        case .array, .tuple: .array
        case .map: .map
        case .object: .object(graph.tag(of: node))
        }
    }

    // MARK: Notes

    /// Looks for changes of what is said about members, in schemas that allow the same.
    private mutating func compareNotes(_ old: Int, _ new: Int, _ path: ValuePath) {
        guard noted.insert(Pair(old: old, new: new)).inserted else { return }
        descend { $0.compareNotesOfParts(old, new, path) }
    }

    private mutating func compareNotesOfParts(_ old: Int, _ new: Int, _ path: ValuePath) {
        let (before, after) = (graph.alternatives(of: old), graph.alternatives(of: new))
        guard before == [old], after == [new] else {
            for (one, other) in pairs(before, after) { compareNotes(one, other, path) }
            return
        }
        switch (graph[old].shape, graph[new].shape) {
        case (.object(let before), .object(let after)):
            for member in before.list {
                guard let other = after[member.name] else { continue }
                let place = path.member(member.name)
                compareNotes(member.notes, other.notes, place)
                compareNotes(member.node, other.node, place)
            }
        case (.array(let before, _, _), .array(let after, _, _)): compareNotes(before, after, .elements(of: path))
        case (.tuple(let before), .tuple(let after)):
            for (index, pair) in zip(before, after).enumerated() { compareNotes(pair.0, pair.1, path.element(index)) }
        case (.map(_, let before), .map(_, let after)): compareNotes(before, after, .members(of: path))
        default: break
        }
    }

    private mutating func compareNotes(_ old: SchemaNode.Notes, _ new: SchemaNode.Notes, _ path: ValuePath) {
        let (before, after) = (old.defaultValue?.encoded(), new.defaultValue?.encoded())
        if before != after { add(false, path, words(old.defaultValue), words(new.defaultValue)) }
        if old.isDeprecated != new.isDeprecated {
            add(false, path, Words.isIt(old.isDeprecated, "deprecated"), Words.isIt(new.isDeprecated, "deprecated"))
        }
        if old.isSecret != new.isSecret {
            add(false, path, Words.isIt(old.isSecret, "secret"), Words.isIt(new.isSecret, "secret"))
        }
    }

    // MARK: Words

    private func words(_ node: Int) -> String { SchemaWords.words(graph[node].schema) }

    private func words(_ member: SchemaNode.Member) -> String {
        words(member.node) + (member.isRequired ? ", required" : ", optional")
    }

    private func words(_ value: JSON?) -> String {
        value.map { "the default \(Words.cut($0.description))" } ?? "no default"
    }
}
