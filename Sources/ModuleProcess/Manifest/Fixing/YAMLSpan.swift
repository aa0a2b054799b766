import CYaml

/// A node of a YAML text with the range that it takes there, so that the text can be edited.
///
/// `YAMLNode` has the values. This tree has the places, and each alias as it is written.
struct YAMLSpan {
    enum Content {
        case scalar(String)
        case sequence([YAMLSpan])
        case mapping([Pair])
        case alias
    }

    struct Pair {
        var key: YAMLSpan
        var value: YAMLSpan
    }

    var content: Content
    /// Its place among the text's Unicode scalars. A block collection ends with its last element.
    var range: Range<Int>
    /// The line, from 0.
    var line: Int
    /// The column, from 0.
    var column: Int
    /// Whether a collection is written in brackets.
    var isFlow = false
    /// Whether aliases may stand for it.
    var isAnchored = false

    /// Returns the value of a mapping's key.
    subscript(key: String) -> Pair? {
        guard case .mapping(let pairs) = content else { return nil }
        return pairs.first { $0.key.text == key }
    }

    var text: String? {
        guard case .scalar(let text) = content else { return nil }
        return text
    }

    /// Returns the tree of a text that `YAMLComposer` has accepted; nil if it is empty.
    static func tree(_ bytes: [UInt8]) -> YAMLSpan? {
        bytes.withUnsafeBufferPointer { buffer in
            let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
            yaml_parser_initialize(parser)
            defer {
                yaml_parser_delete(parser)
                parser.deallocate()
            }
            yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
            yaml_parser_set_input_string(parser, buffer.baseAddress, buffer.count)
            guard Event(parser) != nil, Event(parser)?.type == YAML_DOCUMENT_START_EVENT, let first = Event(parser)
            else { return nil }
            return node(first, parser)
        }
    }

    private static func node(_ event: Event, _ parser: UnsafeMutablePointer<yaml_parser_t>) -> YAMLSpan? {
        var span = YAMLSpan(
            content: .alias, range: event.range, line: event.line, column: event.column, isFlow: event.isFlow,
            isAnchored: event.isAnchored)
        switch event.type {
        case YAML_ALIAS_EVENT: break
        case YAML_SCALAR_EVENT: span.content = .scalar(event.text)
        case YAML_SEQUENCE_START_EVENT:
            var elements: [YAMLSpan] = []
            while let next = Event(parser) {
                if next.type == YAML_SEQUENCE_END_EVENT {
                    span.end(with: elements.last, next)
                    break
                }
                guard let element = node(next, parser) else { return nil }
                elements.append(element)
            }
            span.content = .sequence(elements)
        case YAML_MAPPING_START_EVENT:
            var pairs: [Pair] = []
            while let next = Event(parser) {
                if next.type == YAML_MAPPING_END_EVENT {
                    span.end(with: pairs.last?.value, next)
                    break
                }
                guard let key = node(next, parser), let second = Event(parser), let value = node(second, parser) else {
                    return nil
                }
                pairs.append(Pair(key: key, value: value))
            }
            span.content = .mapping(pairs)
        default: return nil
        }
        return span
    }

    /// Libyaml sees the end of a block collection only at the next token, behind comments.
    private mutating func end(with last: YAMLSpan?, _ event: Event) {
        let end = isFlow ? event.range.upperBound : last?.range.upperBound ?? range.lowerBound
        range = range.lowerBound..<max(range.lowerBound, end)
    }

    /// One of libyaml's events, with its place.
    private struct Event {
        let type: yaml_event_type_t
        let range: Range<Int>
        let line: Int
        let column: Int
        private(set) var isFlow = false
        private(set) var isAnchored = false
        private(set) var text = ""

        init?(_ parser: UnsafeMutablePointer<yaml_parser_t>) {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else { return nil }
            defer { yaml_event_delete(&event) }
            type = event.type
            // Libyaml counts characters, not bytes.
            let (start, end) = (Int(event.start_mark.index), Int(event.end_mark.index))
            range = start..<max(start, end)
            (line, column) = (Int(event.start_mark.line), Int(event.start_mark.column))
            switch type {
            case YAML_SEQUENCE_START_EVENT:
                isFlow = event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
                isAnchored = event.data.sequence_start.anchor != nil
            case YAML_MAPPING_START_EVENT:
                isFlow = event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                isAnchored = event.data.mapping_start.anchor != nil
            case YAML_SCALAR_EVENT:
                let scalar = event.data.scalar
                isAnchored = scalar.anchor != nil
                text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            default: break
            }
        }
    }
}
