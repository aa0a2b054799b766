package import StrataContracts
package import StrataCore
package import StrataTesting

/// Makes random contracts that follow the rules: all forms, references, recursion, and odd names.
package struct RandomContract {
    package var generator: SeededGenerator
    /// The definitions of the current contract, with what each will be.
    private var kinds: [(name: String, kind: Kind)] = []

    private enum Kind: CaseIterable { case object, words, union, alias, any }

    package init(seed: Int) { generator = SeededGenerator(seed) }

    /// Returns a contract; of every fourth one the subject is a module.
    package mutating func contract() -> Contract {
        let isModule = generator.chance(1, in: 4)
        var contract = Contract(
            isModule ? .module("Module\(generator.below(9))") : .interface("Face.\(generator.below(9))"))
        if generator.chance(1, in: 2) {
            contract.version = ContractVersion(
                major: UInt16(generator.below(3)), minor: UInt16(generator.below(4)))
        }
        contract.doc = doc()
        contract.hasInstances = generator.chance(1, in: 4)
        kinds = (0..<generator.below(7)).map { index in
            (
                "\(["A", "_b", "C.c", "d-d"][generator.below(4)])\(index)",
                Kind.allCases[generator.below(Kind.allCases.count)]
            )
        }
        for (index, definition) in kinds.enumerated() {
            contract.definitions[definition.name] = self.definition(definition.kind, index)
        }
        contract.actions = sorted(names(4, ["search", "add", "_a.b-c", "Remove", "list"])).map { action($0) }
        if !isModule { contract.properties = sorted(names(2, ["volume", "_p", "Title-x"])).map { property($0) } }
        contract.broadcasts = notices()
        contract.reports = notices()
        if isModule {
            contract.observes = notices()
            if generator.chance(1, in: 2) { contract.settings = members(2) }
        }
        return contract
    }

    /// Returns a schema for the definitions of the last contract.
    package mutating func schema() -> Schema { schema(3) }

    // MARK: Parts of a contract

    private mutating func action(_ name: String) -> Contract.Action {
        var action = Contract.Action(name)
        action.doc = doc()
        action.isDeprecated = generator.chance(1, in: 8)
        action.needsAuthorization = generator.chance(1, in: 2) ? nil : generator.chance(1, in: 2)
        action.params = maybe { $0.schema(3) }
        if generator.chance(1, in: 3) {
            // A stream of `{}` is one of an unknown type.
            action.result = .elements(maybe { $0.schema(2) }.flatMap { $0 == Schema(.any) ? nil : $0 })
        } else {
            action.result = .reply(maybe { $0.schema(2) })
        }
        if generator.chance(1, in: 4) { action.descriptors = descriptors() }
        action.errors = sorted(names(2, ["Face.none", "Face.too.many", "x.é"])).map { Contract.Problem($0, doc: doc()) }
        return action
    }

    /// Returns how many descriptors an action has, perhaps none.
    package mutating func descriptors() -> DescriptorCounts {
        DescriptorCounts(params: generator.below(3), reply: [0, 1, 16][generator.below(3)])
    }

    /// Returns a property, whose names none of the actions and notifications have.
    package mutating func property(_ name: String) -> Contract.Property {
        var property = Contract.Property(name, value: maybe { $0.schema(2) }, isSettable: generator.chance(1, in: 2))
        property.doc = doc()
        property.isDeprecated = generator.chance(1, in: 8)
        guard property.isSettable else { return property }
        property.needsAuthorization = generator.chance(1, in: 2) ? nil : generator.chance(1, in: 2)
        property.errors = sorted(names(2, ["Face.none", "x.é"])).map { Contract.Problem($0, doc: doc()) }
        return property
    }

    private mutating func notices() -> [Contract.Notice] {
        sorted(names(2, ["changed", "storage.changed", "é", "a b", "\u{1}"])).map { name in
            var notice = Contract.Notice(name, content: maybe { $0.schema(2) })
            notice.doc = doc()
            notice.isDeprecated = generator.chance(1, in: 8)
            return notice
        }
    }

    private mutating func definition(_ kind: Kind, _ index: Int) -> Schema {
        switch kind {
        case .object: return Schema(.object(members(3)), doc: doc())
        case .words: return Schema(words(), doc: doc())
        case .any: return schema(2, isBare: true)
        // What these lead to without a member or an element in between comes later and is no union,
        // so that there is no circle, and no more than 64 alternatives.
        case .union:
            let targets = kinds[(index + 1)...].filter { $0.kind == .object || $0.kind == .words }
            var alternatives = targets.prefix(generator.below(3)).map { Schema(.reference($0.name)) }
            alternatives += some(2) { $0.schema(2, isBare: true) }
            return Schema(.union(alternatives + [Schema(.null)]))
        case .alias:
            guard index + 1 < kinds.count else { return Schema(.boolean) }
            return Schema(.reference(kinds[index + 1 + generator.below(kinds.count - index - 1)].name), doc: doc())
        }
    }

    // MARK: Schemas

    /// - Parameter isBare: whether it may have no reference outside of a member or an element.
    private mutating func schema(_ depth: Int, isBare: Bool = false) -> Schema {
        var schema = Schema(form(depth, isBare: isBare))
        schema.doc = doc()
        if case .string(let text) = schema.form {
            if text.pattern == Self.pattern { schema.examples = ["abc", "xy"] }
            if text.format == "semver" { schema.examples = ["1.0.0"] }
        }
        if generator.chance(1, in: 8) { schema.examples.append(value()) }
        if generator.chance(1, in: 6) { schema.defaultValue = value() }
        schema.isDeprecated = generator.chance(1, in: 12)
        schema.isSecret = generator.chance(1, in: 12)
        return schema
    }

    private static let pattern = "^[a-z]{2,5}$"

    private mutating func form(_ depth: Int, isBare: Bool) -> Schema.Form {
        switch generator.below(depth > 0 ? 16 : 8) {
        case 0: return generator.chance(1, in: 2) ? .any : .null
        case 1: return .boolean
        case 2, 3:
            let (minimum, maximum) = range { $0.integer() }
            return .integer(minimum: minimum, maximum: maximum)
        case 4:
            let (minimum, maximum) = range { $0.double() }
            return .number(minimum: minimum, maximum: maximum, format: generator.chance(1, in: 4) ? "decimal" : nil)
        case 5, 6: return .string(text())
        case 7: return enumeration()
        case 8:
            let (minimum, maximum) = range { $0.generator.below(4) }
            return .array(schema(depth - 1), minimum: minimum, maximum: maximum)
        case 9: return .tuple([schema(depth - 1)] + some(2) { $0.schema(depth - 1) })
        case 10, 11: return .object(members(depth - 1))
        case 12: return .map(keys: keys(), values: schema(depth - 1))
        case 13, 14:
            guard !isBare, !kinds.isEmpty else { return .object(members(depth - 1)) }
            return .reference(kinds[generator.below(kinds.count)].name)
        default:
            return .union(
                [schema(depth - 1, isBare: isBare)] + some(2) { $0.schema(depth - 1, isBare: isBare) }
                    + (generator.chance(1, in: 2) ? [Schema(.null)] : []))
        }
    }

    private mutating func members(_ depth: Int) -> Schema.Members {
        let names = names(
            4, ["text", "limit", "page", "é", "e\u{301}", "a b", "", "kind", "catalog.page", "\"", "m\u{1F600}"])
        var properties = names.map { Schema.Property($0, schema(depth), isRequired: generator.chance(1, in: 2)) }
        if generator.chance(1, in: 8), !names.contains("kind") {
            properties.append(Schema.Property("kind", Schema(.enumeration([.string("k\(generator.below(3))")]))))
        }
        return Schema.Members(properties, isClosed: generator.chance(1, in: 4))
    }

    private mutating func text() -> Schema.Text {
        switch generator.below(8) {
        case 0: return Schema.Text(format: ["date-time", "uri-reference", "uuid", "semver"][generator.below(4)])
        case 1: return Schema.Text(contentEncoding: "base64")
        case 2: return Schema.Text(pattern: Self.pattern)
        case 3, 4:
            let (minimum, maximum) = range { $0.generator.below(6) }
            return Schema.Text(minimum: minimum, maximum: maximum)
        default: return Schema.Text()
        }
    }

    private mutating func enumeration() -> Schema.Form {
        guard generator.chance(1, in: 3) else { return words() }
        let numbers = [generator.below(3)] + [3, 4, -7].shuffled(using: &generator).prefix(generator.below(4))
        return .enumeration(numbers.map { .integer(Int64($0)) })
    }

    private mutating func words() -> Schema.Form {
        let words: [JSON] = ["a", "b", "c", "é", "e\u{301}", "two words"]
        return .enumeration(Array(words.shuffled(using: &generator).prefix(1 + generator.below(4))))
    }

    private mutating func keys() -> Schema? {
        switch generator.below(4) {
        case 0: Schema(.string(Schema.Text(pattern: Schema.Text.integerPattern)), examples: ["1"])
        case 1: Schema(.enumeration(["a", "b", "c"]))
        case 2: kinds.first { $0.kind == .words }.map { Schema(.reference($0.name)) }
        default: nil
        }
    }

    // MARK: Pieces

    /// Returns a small JSON value.
    package mutating func value() -> JSON {
        switch generator.below(8) {
        case 0: .null
        case 1: .bool(generator.chance(1, in: 2))
        case 2: .integer(integer())
        case 3: .number(double())
        case 4: ["a": .integer(1), "é\n": .array([])]
        case 5: .array([.object([]), "x"])
        default:
            .string(
                ["", "a", "é", "e\u{301}", "\u{7F}\u{1F600}\u{2028}", "\"\\/\u{8}\u{C}\n\r\t\u{1}"][generator.below(6)])
        }
    }

    private mutating func integer() -> Int64 {
        switch generator.below(4) {
        case 0: Int64(generator.below(256))
        case 1: [Int64.min, .max, 0, 1 << 53, -1][generator.below(5)]
        case 2: Int64(truncatingIfNeeded: generator.next()) >> generator.below(64)
        default: Int64(generator.below(21)) - 10
        }
    }

    private mutating func double() -> Double {
        switch generator.below(4) {
        case 0: return Double(generator.below(2_001) - 1_000) / 8
        case 1: return [1e16, 9_007_199_254_740_994, 1e-5, 1e22, 0.1, -0.0, 5e300, 1e15][generator.below(8)]
        case 2:
            let number = Double(bitPattern: generator.next())
            return number.isFinite ? number : 0
        default: return Double(generator.below(21)) - 10
        }
    }

    private mutating func doc() -> String? {
        generator.chance(3, in: 4) ? nil : ["Says what it is.", "Two\nlines – and \"quotes\"", ""][generator.below(3)]
    }

    private mutating func range<Number: Comparable>(
        _ make: (inout Self) -> Number
    ) -> (minimum: Number?, maximum: Number?) {
        let (one, other) = (make(&self), make(&self))
        let range: (Number?, Number?) = (min(one, other), max(one, other))
        switch generator.below(5) {
        case 0: return range
        case 1: return (range.0, nil)
        case 2: return (nil, range.1)
        default: return (nil, nil)
        }
    }

    private mutating func names(_ most: Int, _ names: [String]) -> [String] {
        Array(names.shuffled(using: &generator).prefix(generator.below(most + 1)))
    }

    private func sorted(_ names: [String]) -> [String] {
        names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private mutating func some<Value>(_ most: Int, _ make: (inout Self) -> Value) -> [Value] {
        (0..<generator.below(most + 1)).map { _ in make(&self) }
    }

    private mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? {
        generator.chance(4, in: 5) ? make(&self) : nil
    }
}
