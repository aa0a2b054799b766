import CYaml

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
