internal import StrataContracts
internal import StrataCore

/// Whether a receiver takes everything that a sender may send, judged by their schemas.
///
/// It can say no where every single value would be taken, if only a combination of alternatives
/// takes them all. It never says yes wrongly, with two exceptions that are meant. A sender sends
/// only the members that its schema lists. And `format` and `pattern` are compared as texts.
///
/// Recursion is compared coinductively: a pair that is being compared counts as taken. If it turns
/// out not to be, what was concluded from it is forgotten (Amadio and Cardelli, 1993).
struct SchemaRelation {
    /// The most comparisons, of all schemas together. After them nothing is taken.
    static let mostSteps = 1_000_000
    /// How deeply members and elements are compared within each other.
    static let deepest = 128

    var graph: SchemaGraph
    /// Whether a bound was reached, so that a no may be wrong.
    var hasGivenUp = false
    private var steps = 0
    private var depth = 0
    private var known: [Pair: Bool] = [:]
    /// The pairs that count as taken while something is being compared, oldest first.
    private var assumed: [Pair] = []

    private struct Pair: Hashable {
        let sender: Int
        let receiver: Int
        let isStrict: Bool
    }

    init(_ graph: SchemaGraph) { self.graph = graph }

    /// Returns whether what a sender may send is taken.
    /// - Parameter isStrict: whether members that the receiver doesn't list count as not taken, even
    ///   if it would ignore them.
    mutating func takes(_ receiver: Int, from sender: Int, isStrict: Bool) -> Bool {
        let pair = Pair(sender: sender, receiver: receiver, isStrict: isStrict)
        if let isTaken = known[pair] { return isTaken }
        guard charge(1) else { return false }
        guard depth < Self.deepest else {
            hasGivenUp = true
            return false
        }
        let first = assumed.count
        known[pair] = true
        assumed.append(pair)
        depth += 1
        let isTaken = compare(receiver, sender, isStrict)
        depth -= 1
        if !isTaken {
            for pair in assumed[first...] { known[pair] = nil }
            assumed.removeSubrange(first...)
            known[pair] = false
        }
        if depth == 0 { assumed = [] }
        return isTaken
    }

    /// Whether two schemas allow the same, member by member.
    mutating func areSame(_ one: Int, _ other: Int) -> Bool {
        takes(one, from: other, isStrict: true) && takes(other, from: one, isStrict: true)
    }

    /// Counts comparisons.
    /// - Returns: whether there is room for them.
    private mutating func charge(_ count: Int) -> Bool {
        steps += count
        if isExhausted { hasGivenUp = true }
        return !isExhausted
    }

    /// Whether no more comparisons are made.
    var isExhausted: Bool { steps > Self.mostSteps }

    // MARK: Alternatives

    private mutating func compare(_ receiver: Int, _ sender: Int, _ isStrict: Bool) -> Bool {
        let (takers, sent) = (graph.alternatives(of: receiver), graph.alternatives(of: sender))
        guard !takers.contains(where: { graph[$0].shape.isAny }) else { return true }
        if takers == [receiver], sent == [sender] {
            if case .enumeration(let values) = graph[sender].shape { return areTaken(values, by: takers) }
            return takesOne(receiver, sender, isStrict)
        }
        for alternative in sent {
            if case .enumeration(let values) = graph[alternative].shape {
                guard areTaken(values, by: takers) else { return false }
            } else {
                guard takers.contains(where: { takes($0, from: alternative, isStrict: isStrict) }) else { return false }
            }
        }
        return true
    }

    /// Whether each value of an enum is taken by one of the receiver's alternatives.
    private mutating func areTaken(_ values: [JSON], by takers: [Int]) -> Bool {
        var left = values
        for taker in takers where !left.isEmpty {
            switch graph[taker].shape {
            case .enumeration(let taken):
                guard charge((left.count + taken.count) / 8) else { return false }
                let names = Set(taken.map { ExactName($0.description) })
                left.removeAll { names.contains(ExactName($0.description)) }
            case .string(let text):
                guard charge(left.count / 8) else { return false }
                left.removeAll { $0.string.map { text.takes($0) } ?? false }
            case .integer(let minimum, let maximum): left.removeAll { $0.isNumber(from: minimum, to: maximum) }
            case .number(let minimum, let maximum, _): left.removeAll { $0.isNumber(from: minimum, to: maximum) }
            case .any: return true
            case .null, .boolean, .array, .tuple, .object, .map, .union: continue
            }
        }
        return left.isEmpty
    }

    // MARK: Forms

    private mutating func takesOne(_ receiver: Int, _ sender: Int, _ isStrict: Bool) -> Bool {
        switch (graph[receiver].shape, graph[sender].shape) {
        case (.null, .null), (.boolean, .boolean): return true
        case (.integer(let low, let high), .integer(let minimum, let maximum)):
            return Self.isWithin(low, high, minimum, maximum)
        case (.number(let low, let high, _), .integer(let minimum, let maximum)):
            return (low.map { low in minimum.map { !$0.isBelow(low) } ?? false } ?? true)
                && (high.map { high in maximum.map { !$0.isAbove(high) } ?? false } ?? true)
        case (.number(let low, let high, let format), .number(let minimum, let maximum, let sent)):
            return (format == nil || format == sent) && Self.isWithin(low, high, minimum, maximum)
        case (.string(let text), .string(let sent)): return text.takes(sent)
        case (.array(let items, let low, let high), .array(let sent, let minimum, let maximum)):
            return Self.isWithin(low ?? 0, high, minimum ?? 0, maximum) && takes(items, from: sent, isStrict: isStrict)
        case (.array(let items, let low, let high), .tuple(let elements)):
            return Self.isWithin(low, high, elements.count, elements.count)
                && elements.allSatisfy { takes(items, from: $0, isStrict: isStrict) }
        case (.tuple(let nodes), .tuple(let elements)):
            return nodes.count == elements.count
                && zip(nodes, elements).allSatisfy { takes($0, from: $1, isStrict: isStrict) }
        case (.object(let members), .object(let sent)): return takesMembers(members, sent, isStrict)
        case (.map(let keys, let values), .map(let sentKeys, let sentValues)):
            return takes(keys, from: sentKeys, isStrict: isStrict)
                && takes(values, from: sentValues, isStrict: isStrict)
        default: return false
        }
    }

    private mutating func takesMembers(
        _ members: SchemaNode.Members, _ sent: SchemaNode.Members, _ isStrict: Bool
    ) -> Bool {
        guard charge(members.list.count + sent.list.count), sent.isClosed || !members.isClosed else { return false }
        for member in members.list {
            guard let given = sent[member.name] else {
                guard !member.isRequired else { return false }
                continue
            }
            guard given.isRequired || !member.isRequired,
                takes(member.node, from: given.node, isStrict: isStrict)
            else { return false }
        }
        guard isStrict || members.isClosed else { return true }
        return sent.list.allSatisfy { members[$0.name] != nil }
    }

    /// Whether the first range contains the second one.
    private static func isWithin<Number: Comparable>(
        _ low: Number?, _ high: Number?, _ minimum: Number?, _ maximum: Number?
    ) -> Bool {
        (low.map { low in minimum.map { $0 >= low } ?? false } ?? true)
            && (high.map { high in maximum.map { $0 <= high } ?? false } ?? true)
    }
}

extension SchemaNode.Shape {
    fileprivate var isAny: Bool {
        if case .any = self { true } else { false }
    }
}

extension Schema.Text {
    /// Whether a receiver of this takes what a sender of another text sends.
    fileprivate func takes(_ sent: Schema.Text) -> Bool {
        (format == nil || format == sent.format) && contentEncoding == sent.contentEncoding
            && (pattern == nil || pattern == sent.pattern) && (minimum ?? 0) <= (sent.minimum ?? 0)
            && (maximum == nil || (sent.maximum.map { $0 <= maximum ?? .max } ?? false))
    }

    /// Whether a receiver of this takes a value for certain.
    fileprivate func takes(_ value: String) -> Bool {
        format == nil && contentEncoding == nil && (pattern == nil || pattern == Self.integerPattern) && allows(value)
    }
}
