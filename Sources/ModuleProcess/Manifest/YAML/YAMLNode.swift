import CYaml
import StrataCore

/// A node of the manifest's tree, with its position in the file. Aliases are replaced by their
/// nodes; a repeated key is kept twice.
struct YAMLNode: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        /// A plain scalar is written without quotes, and may be more than a string.
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
    /// The line, from 1.
    var line: Int
    /// The column, from 1.
    var column: Int
    /// The number of nodes in it, including itself.
    var size = 1
    /// The depth of the tree, which is 1 for a scalar.
    var depth = 1
    /// The number of the file that it stands in: 0 for the manifest, then the included ones.
    var file = 0
}

/// The reason why a text is not YAML that a manifest may use.
struct YAMLError: Error {
    var line: Int?
    var column: Int?
    var message: String
}

extension YAMLNode {
    /// The value of a scalar by the core schema of YAML 1.2 (10.3.2): null, a Boolean, a number
    /// (even if it isn't finite), or else a string. Nil if the node isn't a scalar.
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

    /// Whether the value is empty or null.
    var isNull: Bool { scalar == .null }

    /// The text for the found value in an error.
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
        // The first byte rules out most strings.
        guard let first = text.utf8.first, digits.contains(first) || "+-.".utf8.contains(first) else { return nil }
        for (prefix, radix) in [("0x", 16), ("0o", 8)] where text.hasPrefix(prefix) {
            let rest = text.dropFirst(2)
            guard let sign = rest.utf8.first, !"+-".utf8.contains(sign) else { return nil }
            return Int64(rest, radix: radix).map(JSON.integer)
        }
        if let integer = Int64(text) { return .integer(integer) }
        // `Double` accepts more than YAML does: hexadecimal, "inf", "nan".
        let floating = text.utf8.allSatisfy { digits.contains($0) || "+-.eE".utf8.contains($0) }
        guard floating, text.utf8.contains(where: digits.contains) else { return nil }
        return Double(text).map(JSON.number)
    }
}

/// One of libyaml's events, with the values that the tree needs.
struct YAMLEvent {
    let type: yaml_event_type_t
    let line: Int
    let column: Int
    /// The anchor of the node, or the one that an alias names.
    private(set) var anchor: String?
    private(set) var tag: String?
    /// The text of a scalar.
    private(set) var text = ""
    /// Whether a scalar may be more than a string.
    private(set) var isPlain = false

    /// Reads the next event; nil if the parser found a problem.
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
