import StrataCore

@testable import StrataManifest

/// A value in a manifest, and the type that the shapes declare for it.
struct ManifestPlace {
    enum Step {
        case member(String)
        case element(Int)
    }

    let steps: [Step]
    let type: ManifestType
    let value: JSON
    /// The mapping's shape and its key, if the value belongs to one.
    let key: (shape: ManifestShape.Name, name: String)?

    /// The path as in the reader's errors.
    var path: String {
        steps.reduce("") { path, step in
            switch step {
            case .member(let name): path.isEmpty ? name : "\(path).\(name)"
            case .element(let place): "\(path)[\(place)]"
            }
        }
    }

    /// All places of a manifest, the manifest itself first.
    static func all(in value: JSON) -> [ManifestPlace] { places(value, .mapping(.app), [], nil) }

    private static func places(
        _ value: JSON, _ type: ManifestType, _ steps: [Step], _ key: (ManifestShape.Name, String)?
    ) -> [ManifestPlace] {
        let own = ManifestPlace(steps: steps, type: type, value: value, key: key)
        var inner: [ManifestPlace] = []
        switch (chosen(type, value), value) {
        case (.mapping(let shape), .object(let members)):
            for member in members {
                guard let key = ManifestShapes.all[shape].keys.first(where: { $0.name == member.name }) else {
                    continue
                }
                inner += places(member.value, key.type, steps + [.member(key.name)], (shape, key.name))
            }
        case (.map(_, let type, _), .object(let members)):
            for member in members { inner += places(member.value, type, steps + [.member(member.name)], nil) }
        case (.rows, .object(let members)):
            for member in members { inner += places(member.value, .mapping(.row), steps + [.member(member.name)], nil) }
        case (.list(let type, _, _), .array(let values)):
            for (place, value) in values.enumerated() {
                inner += places(value, type, steps + [.element(place)], nil)
            }
        default: break
        }
        return [own] + inner
    }

    /// Returns the alternative that a value of this kind is of.
    private static func chosen(_ type: ManifestType, _ value: JSON) -> ManifestType {
        guard case .either(let types) = type else { return type }
        return types.first { $0.kinds.contains(ValueKind(value)) } ?? type
    }

    /// Returns a manifest with another value at this place.
    func replaced(by value: JSON, in whole: JSON) -> JSON { Self.replaced(whole, steps[...]) { _ in value } }

    /// Returns a manifest with changed members of the mapping at this place.
    func changed(in whole: JSON, _ change: ([JSON.Member]) -> [JSON.Member]) -> JSON {
        Self.replaced(whole, steps[...]) { value in
            guard case .object(let members) = value else { return value }
            return .object(change(members))
        }
    }

    private static func replaced(_ whole: JSON, _ steps: ArraySlice<Step>, _ change: (JSON) -> JSON) -> JSON {
        guard let step = steps.first else { return change(whole) }
        let rest = steps.dropFirst()
        switch (step, whole) {
        case (.member(let name), .object(let members)):
            return .object(members.map { $0.name == name ? .init(name, replaced($0.value, rest, change)) : $0 })
        case (.element(let place), .array(var values)):
            values[place] = replaced(values[place], rest, change)
            return .array(values)
        default: return whole
        }
    }
}

/// What JSON tells apart.
enum ValueKind: CaseIterable {
    case null, boolean, integer, string, array, object

    init(_ value: JSON) {
        switch value {
        case .null: self = .null
        case .bool: self = .boolean
        case .integer, .number: self = .integer
        case .string: self = .string
        case .array: self = .array
        case .object: self = .object
        }
    }

    var sample: JSON {
        switch self {
        case .null: nil
        case .boolean: true
        case .integer: 7
        case .string: "x"
        case .array: []
        case .object: .object([])
        }
    }
}

extension ManifestType {
    /// The kinds of values that are right.
    var kinds: Set<ValueKind> {
        switch self {
        case .any: Set(ValueKind.allCases)
        case .boolean: [.boolean]
        case .integer: [.integer]
        case .written: [.boolean, .integer, .string]
        case .string, .text, .words, .choice, .time: [.string]
        case .size: [.integer, .string]
        case .list: [.array]
        case .map, .rows: [.object]
        case .mapping(let name): ManifestShapes.all[name].mayBeEmpty ? [.object, .null] : [.object]
        case .either(let types): types.reduce(into: []) { $0.formUnion($1.kinds) }
        }
    }

    /// Values that are wrong although their kind is right.
    var wrong: [JSON] {
        switch self {
        case .any, .boolean, .integer(nil), .written, .string, .rows, .either: []
        case .integer(let range?):
            [.integer(Int64(range.lowerBound - 1)), .integer(Int64(range.upperBound + 1))]
        case .text, .words: [""]
        case .choice: ["none-such"]
        case .size(let range):
            ["", "much", "1 TiB", .integer(Int64(range.lowerBound - 1)), .integer(Int64(range.upperBound + 1))]
        case .time(let least): ["", "5", "5x", "s"] + (least > 0 ? ["0s", "00 ms"] : [])
        case .list(_, let count, _): count.lowerBound > 0 ? [[]] : []
        case .map(_, _, let count): count.lowerBound > 0 ? [.object([])] : []
        case .mapping(let name): ManifestShapes.all[name].keys.contains { $0.isRequired } ? [.object([])] : []
        }
    }

    /// Values at the bounds.
    var right: [JSON] {
        switch self {
        case .boolean: [true, false]
        case .integer(nil): [.integer(.min), .integer(.max)]
        case .integer(let range?): [.integer(Int64(range.lowerBound)), .integer(Int64(range.upperBound))]
        case .choice(let words): words.map { .string($0) }
        case .size(let range):
            [
                .integer(Int64(range.lowerBound)), .integer(Int64(range.upperBound)), .string("\(range.lowerBound)"),
                .string("\(range.upperBound) B"),
            ]
        case .time(let least): least > 0 ? ["1ms", "1h", "007 s"] : ["0s", "1h", "5 m"]
        case .written: ["x", 5, true, 1.5]
        default: []
        }
    }
}
