import StrataCore

/// What the value of a key may be, as far as a JSON Schema can say it. The reader knows more, such as
/// which names exist, but takes no value of another type.
indirect enum ManifestType: Sendable {
    case any
    case boolean
    /// An integer in a range; nil for any.
    case integer(ClosedRange<Int>?)
    /// A scalar that counts as it is written, whatever YAML takes it for.
    case written
    case string
    /// A string that the pattern matches as a whole.
    case text(ManifestPattern)
    /// A string of up to so many characters, but not an empty one.
    case words(most: Int?)
    case choice([String])
    /// A number of bytes, with a unit or without one.
    case size(ClosedRange<Int>)
    /// A time with its unit.
    case time(atLeast: Int)
    /// A list of a number of elements; distinct ones are there once.
    case list(ManifestType, count: ClosedRange<Int> = 0...Int.max, isDistinct: Bool = false)
    /// A mapping whose keys somebody chooses.
    case map(keys: ManifestPattern? = nil, ManifestType, count: ClosedRange<Int> = 0...Int.max)
    case mapping(ManifestShape.Name)
    /// The rows, by name.
    case rows
    case either([ManifestType])

    /// A list of names, each once.
    static func names(_ pattern: ManifestPattern) -> ManifestType { .list(.text(pattern), isDistinct: true) }

    /// The name of a notification or an event.
    static let notification = ManifestType.words(most: 256)
    static let notifications = ManifestType.list(notification, isDistinct: true)
    /// A path or another text that is no choice of words.
    static let path = ManifestType.words(most: nil)

    /// The name of a level. An editor offers those of an app that names none.
    static let level = ManifestType.either([.choice(AppTable(app: "").levels), .text(.module)])

    init<Word: RawRepresentable>(choice words: [Word]) where Word.RawValue == String {
        self = .choice(words.map(\.rawValue))
    }
}

/// The patterns of texts, each for a whole one.
enum ManifestPattern: String, Sendable {
    case app = "[a-z0-9-]{1,32}"
    /// Ends in an app's node, perhaps.
    case otherApp = "[a-z0-9-]{1,32}(@[a-z0-9][a-z0-9-]{0,31})?"
    case word = #"[^\x00-\x20\x7F]{1,64}"#
    case scheme = "[A-Za-z][A-Za-z0-9+.-]{0,63}"
    /// A module's or a level's.
    case module = "[A-Za-z][A-Za-z0-9._-]{0,63}"
    /// The suffix Router is removed before the name is measured.
    case interface = "[A-Za-z][A-Za-z0-9._-]{0,63}([Rr][Oo][Uu][Tt][Ee][Rr])?"
    case required = "[A-Za-z][A-Za-z0-9._-]{0,63}(@[0-9]{1,5}[.][0-9]{1,5})?"
    case action = "[A-Za-z_][A-Za-z0-9._-]{0,63}"
    case urlTarget =
        "[A-Za-z][A-Za-z0-9._-]{0,63}([Rr][Oo][Uu][Tt][Ee][Rr])?/[A-Za-z_][A-Za-z0-9._-]{0,63}"
    case node = "[a-z0-9][a-z0-9-]{0,31}"
    /// Only the last part of a path may have stars.
    case include = "([^*/]*/)*[^/]+"
    case socket = #"/[\x20!#-\x5B\x5D-~]{0,106}"#
    case server = "(tls|nats)://.+"
    case variable = "[^=]+"
    case size = "[0-9]+ *(B|KiB|MiB|GiB)?"
    case time = "[0-9]+ *(ms|s|m|h)"
    case timeOverZero = "0*[1-9][0-9]* *(ms|s|m|h)"

    /// The pattern in the regular expressions of JSON Schema.
    var whole: String { "^\(rawValue.contains("|") ? "(?:\(rawValue))" : rawValue)$" }
}

extension ManifestType {
    /// The type as keywords of JSON Schema.
    var keywords: [JSON.Member] {
        switch self {
        case .any: []
        case .boolean: [.init("type", "boolean")]
        case .integer(let range): [.init("type", "integer")] + Self.bounds(range, "minimum", "maximum")
        case .written: [.init("type", ["string", "number", "boolean"])]
        case .string: [.init("type", "string")]
        case .text(let pattern): [.init("type", "string"), .init("pattern", .string(pattern.whole))]
        case .words(let most):
            [.init("type", "string"), .init("minLength", 1)]
                + (most.map { [.init("maxLength", .integer(Int64($0)))] } ?? [])
        case .choice(let words): [.init("type", "string"), .init("enum", .array(words.map { .string($0) }))]
        case .size(let range):
            // A number is bytes; of a string only the form is known.
            [.init("type", ["integer", "string"]), .init("pattern", .string(ManifestPattern.size.whole))]
                + Self.bounds(range, "minimum", "maximum")
        case .time(let least):
            [.init("type", "string")]
                + [.init("pattern", .string((least > 0 ? ManifestPattern.timeOverZero : .time).whole))]
        case .list(let element, let count, let isDistinct):
            [.init("type", "array"), .init("items", .object(element.keywords))]
                + Self.bounds(count, "minItems", "maxItems")
                + (isDistinct ? [.init("uniqueItems", true)] : [])
        case .map(let keys, let value, let count):
            [.init("type", "object")]
                + (keys.map { [.init("propertyNames", .object([.init("pattern", .string($0.whole))]))] } ?? [])
                + [.init("additionalProperties", .object(value.keywords))]
                + Self.bounds(count, "minProperties", "maxProperties")
        case .mapping(let name): [.init("$ref", .string(ManifestSchema.definitions + name.rawValue))]
        case .rows: [.init("$ref", .string(ManifestSchema.definitions + ManifestSchema.rows))]
        case .either(let types): [.init("anyOf", .array(types.map { .object($0.keywords) }))]
        }
    }

    private static func bounds(_ range: ClosedRange<Int>?, _ least: String, _ most: String) -> [JSON.Member] {
        guard let range else { return [] }
        var bounds: [JSON.Member] = []
        if range.lowerBound != 0 || least == "minimum" {
            bounds.append(.init(least, .integer(Int64(range.lowerBound))))
        }
        if range.upperBound != Int.max { bounds.append(.init(most, .integer(Int64(range.upperBound)))) }
        return bounds
    }
}
