import StrataContracts
import StrataCore

/// The types of a stub in Python: dataclasses, enums and aliases, each written after those that it
/// needs at once.
struct PythonTypes {
    /// A type as it stands in an annotation.
    struct Annotation {
        var text: String
        /// Whether a class in it isn't defined yet, so that the annotation must be a string.
        var isForward: Bool

        var quoted: String { isForward ? "\"\(text.replacing("\"", with: "'"))\"" : text }
    }

    /// The definitions, with two empty lines before each.
    private(set) var source = SourceText()
    /// The names of the classes and aliases.
    private(set) var exported: [String] = []
    /// The name of the client's class.
    let client: String
    private let contract: Contract
    private var names: [String: String] = [:]
    private var taken: Set<String> = [
        "Annotated", "Any", "Client", "Descriptor", "DescriptorLike", "Final", "Format", "Iterable", "Length",
        "Literal", "Pattern", "Range", "Stream", "TypedStream", "WireName", "None", "True", "False",
    ]
    private var begun: Set<String> = []
    private var done: Set<String> = []

    init(_ contract: Contract) {
        self.contract = contract
        client = Identifier.unique(Identifier.capitalized(contract.subject.name), in: &taken)
        for name in contract.definitions.keys.sorted() {
            names[name] = Identifier.unique(Identifier.capitalized(name), in: &taken)
        }
    }

    /// Writes a definition of the contract, unless that is done or begun.
    mutating func define(_ name: String) {
        guard let schema = contract.definitions[name], let type = names[name], begun.insert(name).inserted else {
            return
        }
        switch schema.form {
        case .object(let members): dataclass(type, members, doc: schema.doc)
        case .enumeration(let values): enumeration(type, values, doc: schema.doc)
        default:
            let annotation = self.type(schema.undocumented, named: type)
            begin()
            source.line("\(type) = \(annotation.quoted)")
            source.docstring(schema.doc)
        }
        exported.append(type)
        done.insert(name)
    }

    /// Returns a schema's type. Writes the types that it needs.
    /// - Parameter word: The name for an object that is described in place.
    mutating func type(_ schema: Schema, named word: String) -> Annotation {
        switch schema.form {
        case .any: return Annotation(text: "Any", isForward: false)
        case .null: return Annotation(text: "None", isForward: false)
        case .boolean: return Annotation(text: "bool", isForward: false)
        case .integer(let minimum, let maximum):
            return annotated("int", minimum == nil && maximum == nil ? [] : [Self.range(minimum, maximum)])
        case .number(let minimum, let maximum, let format):
            let bounds = minimum == nil && maximum == nil ? [] : [Self.range(minimum, maximum)]
            return annotated(format == "decimal" ? "decimal.Decimal" : "float", bounds)
        case .string(let text): return string(text, schema.examples)
        case .enumeration(let values):
            let literals = values.map { $0.string.map(PythonName.literal) ?? "\($0)" }
            return Annotation(text: "Literal[\(literals.joined(separator: ", "))]", isForward: false)
        case .array(let element, let minimum, let maximum):
            var list = type(element, named: word)
            list.text = "list[\(list.text)]"
            guard minimum != nil || maximum != nil else { return list }
            list.text = "Annotated[\(list.text), \(Self.length(minimum, maximum))]"
            return list
        case .tuple(let elements):
            return joined(elements.enumerated().map { type($1, named: "\(word)\($0)") }, ", ") { "tuple[\($0)]" }
        case .map(let keys, let values):
            let key = keys.map { type($0, named: "\(word)Key") } ?? Annotation(text: "str", isForward: false)
            let isNumber = keys.map { if case .string(let text) = $0.form { text.pattern != nil } else { false } }
            let name = isNumber == true ? Annotation(text: "int", isForward: false) : key
            return joined([name, type(values, named: word)], ", ") { "dict[\($0)]" }
        case .reference(let name):
            define(name)
            return Annotation(text: names[name] ?? "Any", isForward: !done.contains(name))
        case .union(let options):
            return joined(options.enumerated().map { option($1, $0, word) }, " | ") { $0 }
        case .object(let members):
            if schema.hasNoMembers { return Annotation(text: "dict[str, Any]", isForward: false) }
            let name = Identifier.unique(word, in: &taken)
            dataclass(name, members, doc: schema.doc)
            exported.append(name)
            return Annotation(text: name, isForward: false)
        }
    }

    /// Returns the type of a union's option. An object with one member, which tells it apart, is
    /// named for that member.
    private mutating func option(_ schema: Schema, _ index: Int, _ word: String) -> Annotation {
        guard case .object(let members) = schema.form, members.properties.count == 1 else {
            return type(schema, named: "\(word)\(index + 1)")
        }
        return type(schema, named: word + Identifier.capitalized(members.properties[0].name))
    }

    private func joined(
        _ parts: [Annotation], _ separator: String, _ whole: (String) -> String
    ) -> Annotation {
        Annotation(
            text: whole(parts.map(\.text).joined(separator: separator)), isForward: parts.contains(where: \.isForward))
    }

    private func annotated(_ type: String, _ notes: [String]) -> Annotation {
        Annotation(
            text: notes.isEmpty ? type : "Annotated[\(([type] + notes).joined(separator: ", "))]", isForward: false)
    }

    private func string(_ text: Schema.Text, _ examples: [JSON]) -> Annotation {
        if text.contentEncoding != nil { return Annotation(text: "bytes", isForward: false) }
        if text.format == "date-time" { return Annotation(text: "datetime.datetime", isForward: false) }
        if text.format == "uuid" { return Annotation(text: "uuid.UUID", isForward: false) }
        var notes: [String] = []
        if let format = text.format { notes.append("Format(\(PythonName.literal(format)))") }
        if text.minimum != nil || text.maximum != nil { notes.append(Self.length(text.minimum, text.maximum)) }
        if let pattern = text.pattern {
            let example = examples.first?.string ?? ""
            notes.append("Pattern(\(PythonName.literal(pattern)), \(PythonName.literal(example)))")
        }
        return annotated("str", notes)
    }

    private static func range<Number>(_ minimum: Number?, _ maximum: Number?) -> String {
        "Range(\(minimum.map { "\($0)" } ?? "None"), \(maximum.map { "\($0)" } ?? "None"))"
    }

    private static func length(_ minimum: Int?, _ maximum: Int?) -> String {
        "Length\(range(minimum, maximum).dropFirst("Range".count))"
    }

    // MARK: Definitions

    private mutating func begin() {
        source.line()
        source.line()
    }

    private mutating func dataclass(_ name: String, _ members: Schema.Members, doc: String?) {
        var fields: [(line: String, doc: String?)] = []
        var attributes: Set<String> = []
        for property in members.properties {
            let attribute = Identifier.unique(PythonName.attribute(property.name), in: &attributes)
            let schema = property.schema
            var annotation = type(schema, named: name + Identifier.capitalized(property.name))
            let fallback = schema.defaultValue.flatMap(PythonName.literal)
            // A member without a default is None where it is missing.
            if !property.isRequired, fallback == nil, !schema.allowsNull, schema.form != .any {
                annotation.text += " | None"
            }
            if attribute != property.name {
                annotation.text = "Annotated[\(annotation.text), WireName(\(PythonName.literal(property.name)))]"
            }
            let value = property.isRequired ? "" : " = \(fallback ?? "None")"
            let notes = [schema.doc ?? schema.withoutNull.doc, schema.isDeprecated ? "Deprecated." : nil]
            let said = notes.compactMap { $0 }
            fields.append(
                ("\(attribute): \(annotation.quoted)\(value)", said.isEmpty ? nil : said.joined(separator: "\n\n")))
        }
        begin()
        source.line("@dataclasses.dataclass(kw_only=True)")
        source.line("class \(name):")
        source.nested { source in
            source.docstring(doc)
            if doc != nil, !fields.isEmpty { source.line() }
            for field in fields {
                source.line(field.line)
                source.docstring(field.doc)
            }
            if fields.isEmpty, doc == nil { source.line("pass") }
        }
    }

    private mutating func enumeration(_ name: String, _ values: [JSON], doc: String?) {
        var taken: Set<String> = []
        begin()
        source.line("class \(name)(enum.Enum):")
        source.nested { source in
            source.docstring(doc)
            if doc != nil { source.line() }
            for value in values {
                let number = value.integer ?? 0
                let word = value.string ?? "value_\(number < 0 ? "minus_" : "")\(number.magnitude)"
                let member = Identifier.unique(PythonName.constant(word), in: &taken)
                source.line("\(member) = \(value.string.map(PythonName.literal) ?? "\(number)")")
            }
        }
    }
}

extension Schema {
    /// Whether null is one of the values.
    fileprivate var allowsNull: Bool {
        switch form {
        case .null: true
        case .union(let options): options.contains(where: \.allowsNull)
        default: false
        }
    }

    fileprivate var undocumented: Schema {
        var schema = self
        schema.doc = nil
        return schema
    }
}
