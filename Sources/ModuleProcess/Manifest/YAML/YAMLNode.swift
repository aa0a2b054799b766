import CYaml
import StrataCore

/// A node of the manifest's tree, with its place in the file. Aliases are
/// replaced by what they stand for; a key that is there twice is still twice.
struct YAMLNode: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        /// Plain is what stands without quotes and may be more than a string.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([Pair])
    }

    struct Pair: Sendable, Equatable {
        var key: String
        var line: Int
        var column: Int
        var value: YAMLNode
    }

    var content: Content
    /// From 1.
    var line: Int
    /// From 1.
    var column: Int
    /// How many nodes there are in it, itself being one.
    var size = 1
    /// How deep it is, a scalar being 1.
    var depth = 1
}

/// Why text is no YAML that a manifest may be written in.
struct YAMLError: Error {
    var line: Int?
    var column: Int?
    var message: String
}

extension YAMLNode {
    /// What a scalar is by the core schema of YAML 1.2 (10.3.2): null, a boolean,
    /// a number (not a finite one too), else a string. Nil for what is no scalar.
    var scalar: JSON? {
        guard case .scalar(let text, let isPlain) = content else { return nil }
        guard isPlain else { return .string(text) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .number(.infinity)
        case "-.inf", "-.Inf", "-.INF": return .number(-.infinity)
        case ".nan", ".NaN", ".NAN": return .number(.nan)
        default: return Self.number(text) ?? .string(text)
        }
    }

    /// Whether it is an empty value, or one that says null.
    var isNull: Bool { scalar == .null }

    /// What an error says that was found.
    var found: String {
        switch content {
        case .sequence: return "a list"
        case .mapping: return "a mapping"
        case .scalar(let text, _):
            let shown = text.count > 60 ? text.prefix(60) + "…" : text[...]
            return switch scalar {
            case .null?: "nothing"
            case .bool?, .integer?, .number?: String(shown)
            case .string?, .array?, .object?, nil: JSON.string(String(shown)).description
            }
        }
    }

    private static func number(_ text: String) -> JSON? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        // A string's first bytes tell most that no number can begin so.
        guard let first = text.utf8.first, digits.contains(first) || "+-.".utf8.contains(first) else { return nil }
        for (prefix, radix) in [("0x", 16), ("0o", 8)] where text.hasPrefix(prefix) {
            let rest = text.dropFirst(2)
            guard let sign = rest.utf8.first, !"+-".utf8.contains(sign) else { return nil }
            return Int64(rest, radix: radix).map(JSON.integer)
        }
        if let integer = Int64(text) { return .integer(integer) }
        // Double reads more than YAML does: hexadecimal, "inf", "nan".
        let floating = text.utf8.allSatisfy { digits.contains($0) || "+-.eE".utf8.contains($0) }
        guard floating, text.utf8.contains(where: digits.contains) else { return nil }
        return Double(text).map(JSON.number)
    }
}

/// What a manifest's tree needs of one of libyaml's events, as values.
struct YAMLEvent {
    let type: yaml_event_type_t
    let line: Int
    let column: Int
    /// The anchor that the node has, or that an alias names.
    private(set) var anchor: String?
    private(set) var tag: String?
    /// A scalar's text.
    private(set) var text = ""
    /// Whether a scalar may be more than a string.
    private(set) var isPlain = false

    /// Reads the next event; nil where the parser found a problem.
    init?(from parser: UnsafeMutablePointer<yaml_parser_t>) {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { return nil }
        defer { yaml_event_delete(&event) }
        type = event.type
        line = Int(event.start_mark.line) + 1
        column = Int(event.start_mark.column) + 1
        switch type {
        case YAML_ALIAS_EVENT: anchor = Self.string(event.data.alias.anchor)
        case YAML_SEQUENCE_START_EVENT:
            anchor = Self.string(event.data.sequence_start.anchor)
            tag = Self.string(event.data.sequence_start.tag)
        case YAML_MAPPING_START_EVENT:
            anchor = Self.string(event.data.mapping_start.anchor)
            tag = Self.string(event.data.mapping_start.tag)
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            anchor = Self.string(scalar.anchor)
            tag = Self.string(scalar.tag)
            text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE && tag != "!" && tag != "tag:yaml.org,2002:str"
        default: break
        }
    }

    func error(_ message: String) -> YAMLError { YAMLError(line: line, column: column, message: message) }

    private static func string(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        pointer.map { String(cString: $0) }
    }
}
