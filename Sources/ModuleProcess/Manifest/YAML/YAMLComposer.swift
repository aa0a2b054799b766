import CYaml

/// Builds the tree of a YAML text from libyaml's events.
///
/// libyaml's own tree stops at the first repeated key, and expands each alias. Reading the events
/// makes it possible to limit the depth, and the number of nodes that aliases add.
struct YAMLComposer: ~Copyable {
    static let maximumDepth = 64
    static let maximumAliased = 100_000

    private let file: Int
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private var anchors: [String: YAMLNode] = [:]
    private var aliased = 0

    private init(file: Int, aliased: Int) {
        self.file = file
        self.aliased = aliased
        parser = .allocate(capacity: 1)
        yaml_parser_initialize(parser)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    /// Returns the only document of the text; nil if there is none.
    /// - Parameters:
    ///   - file: the number of its file, which each node gets.
    ///   - aliased: the number of nodes that aliases have added in all files so far.
    static func compose(_ text: [UInt8], file: Int, aliased: inout Int) throws(YAMLError) -> YAMLNode? {
        let result: Result<YAMLNode?, YAMLError> = text.withUnsafeBufferPointer { buffer in
            Result { () throws(YAMLError) in
                var composer = YAMLComposer(file: file, aliased: aliased)
                defer { aliased = composer.aliased }
                yaml_parser_set_encoding(composer.parser, YAML_UTF8_ENCODING)
                yaml_parser_set_input_string(composer.parser, buffer.baseAddress, buffer.count)
                return try composer.document()
            }
        }
        do throws(YAMLError) { return try result.get() } catch { throw mending(error, text) }
    }

    /// Improves the error about a tab, the most common mistake, which libyaml doesn't name.
    private static func mending(_ error: YAMLError, _ text: [UInt8]) -> YAMLError {
        guard let line = error.line, let column = error.column else { return error }
        let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: line, omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1) else { return error }
        let bytes = lines[line - 1]
        let blank = bytes.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let tab = blank.firstIndex(of: UInt8(ascii: "\t")), column - 1 <= blank.count else { return error }
        return YAMLError(
            line: line, column: tab - bytes.startIndex + 1,
            message: "not YAML: the line is indented by a tab; indent it by spaces")
    }

    private mutating func document() throws(YAMLError) -> YAMLNode? {
        _ = try next()
        guard try next().type == YAML_DOCUMENT_START_EVENT else { return nil }
        let root = try node(try next(), depth: 1)
        _ = try next()
        let end = try next()
        guard end.type == YAML_STREAM_END_EVENT else { throw end.error("expected one document; found another") }
        return root
    }

    private mutating func node(_ event: YAMLEvent, depth: Int) throws(YAMLError) -> YAMLNode {
        if event.type == YAML_ALIAS_EVENT { return try alias(event, depth: depth) }
        guard depth <= Self.maximumDepth else { throw Self.tooDeep(event) }
        var node = YAMLNode(content: .sequence([]), line: event.line, column: event.column, file: file)
        switch event.type {
        case YAML_SEQUENCE_START_EVENT:
            var elements: [YAMLNode] = []
            while case let event = try next(), event.type != YAML_SEQUENCE_END_EVENT {
                let element = try self.node(event, depth: depth + 1)
                elements.append(element)
                node.size += element.size
                node.depth = max(node.depth, element.depth + 1)
            }
            node.content = .sequence(elements)
        case YAML_MAPPING_START_EVENT:
            var pairs: [YAMLNode.Pair] = []
            while case let event = try next(), event.type != YAML_MAPPING_END_EVENT {
                let key = try self.node(event, depth: depth + 1)
                guard case .scalar(let name, _) = key.content else {
                    throw event.error("expected a key that is a string")
                }
                let value = try self.node(try next(), depth: depth + 1)
                pairs.append(.init(key: name, line: event.line, column: event.column, value: value))
                node.size += 1 + value.size
                node.depth = max(node.depth, value.depth + 1)
            }
            node.content = .mapping(pairs)
        default:
            node.content = .scalar(event.text, isPlain: event.isPlain)
        }
        if let tag = event.tag, !Self.tags.contains(tag) { throw event.error("a manifest has no tag \(tag)") }
        if let anchor = event.anchor { anchors[anchor] = node }
        return node
    }

    private mutating func alias(_ event: YAMLEvent, depth: Int) throws(YAMLError) -> YAMLNode {
        guard let anchor = event.anchor, let node = anchors[anchor] else {
            throw event.error("this alias stands for nothing")
        }
        aliased += node.size
        guard aliased <= Self.maximumAliased else {
            throw event.error("aliases stand for more than \(Self.maximumAliased) values")
        }
        guard depth + node.depth - 1 <= Self.maximumDepth else { throw Self.tooDeep(event) }
        return node
    }

    private static func tooDeep(_ event: YAMLEvent) -> YAMLError {
        event.error("nested deeper than \(maximumDepth)")
    }

    private mutating func next() throws(YAMLError) -> YAMLEvent {
        guard let event = YAMLEvent(from: parser) else {
            let mark = parser.pointee.problem_mark
            let problem = parser.pointee.problem.map { String(cString: $0) } ?? "no memory"
            throw YAMLError(line: Int(mark.line) + 1, column: Int(mark.column) + 1, message: "not YAML: \(problem)")
        }
        return event
    }

    /// The tags of YAML's own types, and the one that makes any scalar a string.
    private static let tags: Set<String> = Set(
        ["str", "int", "float", "bool", "null", "seq", "map"].map { "tag:yaml.org,2002:\($0)" } + ["!"])
}
