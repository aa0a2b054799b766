public import StrataContracts
import StrataCore

/// Writes an interface's contract as Swift source, for a module in Swift that calls or provides
/// what somebody else has described.
///
/// Definitions become nested types. What Swift can't express as a `Codable` type, such as a union of
/// unlike types, becomes `JSON`, and the comment says what it may be.
public struct SwiftSource {
    let contract: Contract
    /// The Swift names of the definitions.
    let types: [String: String]
    /// The definitions that properties hold. Their types are `Equatable`, because an owner compares values.
    let valueDefinitions: Set<String>
    private let actionTypes: [String]
    private let propertyTypes: [String]
    private let noticeTypes: [(notice: Contract.Notice, type: String, conformances: String)]

    /// - Parameter contract: The contract of an interface.
    public init(_ contract: Contract) {
        self.contract = contract
        var taken: Set<String> = ["DescriptorCounts", "JSON", Identifier.capitalized(contract.subject.name)]
        actionTypes = contract.actions.map { Identifier.unique(Identifier.capitalized($0.name), in: &taken) }
        propertyTypes = contract.properties.map { Identifier.unique(Identifier.capitalized($0.name), in: &taken) }
        valueDefinitions = Set(contract.names(usedBy: contract.properties.compactMap(\.value)))
        let reports = Set(contract.reports.map(\.name))
        let broadcasts = Set(contract.broadcasts.map(\.name))
        let notices = contract.broadcasts + contract.reports.filter { !broadcasts.contains($0.name) }
        noticeTypes = notices.map { notice in
            let kinds = [
                broadcasts.contains(notice.name) ? "Broadcast" : nil, reports.contains(notice.name) ? "Report" : nil,
            ]
            let type = Identifier.unique(Identifier.capitalized(contract.shortened(notice.name)), in: &taken)
            return (notice, type, kinds.compactMap { $0 }.joined(separator: ", "))
        }
        var types: [String: String] = [:]
        for name in contract.definitions.keys.sorted() {
            types[name] = Identifier.unique(Identifier.capitalized(name), in: &taken)
        }
        self.types = types
    }

    /// The source, one file.
    public var text: String {
        var source = SourceText()
        if needsFoundation { source.line("public import FoundationEssentials") }
        source.line("public import Strata")
        source.line()
        source.comment(contract.doc)
        source.line("public enum \(Identifier.capitalized(contract.subject.name)): Interface {")
        source.nested { source in
            source.line("public static let name = \(Self.literal(contract.subject.name))")
            if let version = contract.version {
                source.line("public static let version: ContractVersion? = \"\(version)\"")
            }
            let members = (actionTypes + propertyTypes + noticeTypes.map(\.type)).map { "\($0).self" }
            source.list("public static let members: [any InterfaceMember.Type] = [", members, "]")
            for (action, type) in zip(contract.actions, actionTypes) {
                source.line()
                write(action, type, to: &source)
            }
            for (property, type) in zip(contract.properties, propertyTypes) {
                source.line()
                write(property, type, to: &source)
            }
            for (notice, type, conformances) in noticeTypes {
                source.line()
                let name = "public static let name = \(Self.literal(notice.name))"
                write(
                    notice.content, type, "\(conformances)", doc: notice.doc, isDeprecated: notice.isDeprecated,
                    first: [name], to: &source)
            }
            for (name, schema) in contract.definitions.sorted(by: { $0.key < $1.key }) {
                source.line()
                define(
                    schema, types[name] ?? name, isReference: isRecursive(name),
                    isEquatable: valueDefinitions.contains(name), to: &source)
            }
        }
        source.line("}")
        return source.text
    }

    private func write(_ action: Contract.Action, _ type: String, to source: inout SourceText) {
        var inline = InlineTypes()
        var first = SourceText()
        first.line("public static let name = action(\(Self.literal(action.name)))")
        let kind: String
        var doc = action.doc
        switch action.result {
        case .reply(let schema):
            kind = "Action"
            if let schema {
                let reply = self.type(schema, named: "Answer", &inline)
                if reply != "Nothing" { first.line("public typealias Reply = \(reply)") }
            } else {
                first.line("public typealias Reply = JSON")
            }
            if action.descriptors != .none {
                let (params, reply) = (action.descriptors.params, action.descriptors.reply)
                first.line("public static let descriptors = DescriptorCounts(params: \(params), reply: \(reply))")
            }
        case .elements(let schema):
            kind = "StreamingAction"
            doc = action.docWithoutDescriptors
            let element = schema.map { self.type($0, named: "Part", &inline) } ?? "JSON"
            first.line("public typealias Element = \(element)")
        }
        Self.write(action.errors, to: &first)
        write(
            action.params, type, kind, doc: doc, isDeprecated: action.isDeprecated, first: first.lines,
            inline: inline,
            to: &source)
    }

    private static func write(_ errors: [Contract.Problem], to source: inout SourceText) {
        guard !errors.isEmpty else { return }
        let errors = errors.map { "\(literal($0.code)): \(literal($0.doc ?? ""))" }
        source.list("public static let errors: KeyValuePairs<String, String> = [", errors, "]")
    }

    private func write(_ property: Contract.Property, _ type: String, to source: inout SourceText) {
        source.comment(property.doc)
        if property.isDeprecated { source.line("/// Deprecated.") }
        source.line("public enum \(type): \(property.isSettable ? "SettableProperty" : "Property") {")
        source.nested { source in
            var inline = InlineTypes()
            let value = property.value.map { self.type($0, named: "Content", &inline) } ?? "JSON"
            source.line("public static let name = property(\(Self.literal(property.name)))")
            source.line("public typealias Value = \(value)")
            Self.write(property.errors, to: &source)
            for (name, schema) in inline.types { define(schema, name, isEquatable: true, to: &source) }
        }
        source.line("}")
    }

    /// Writes the type of params or of a content: a struct with the object's members, or with one
    /// raw value.
    private func write(
        _ schema: Schema?, _ type: String, _ conformances: String, doc: String?, isDeprecated: Bool, first: [String],
        inline: InlineTypes = InlineTypes(), to source: inout SourceText
    ) {
        source.comment(doc)
        if isDeprecated { source.line("/// Deprecated.") }
        if let members = schema?.members(in: contract) {
            structure(type, conformances, members, first: first, inline: inline, to: &source)
        } else {
            var inline = inline
            let raw = schema.map { self.type($0, named: "Value", &inline) } ?? "JSON"
            structure(
                type, "\(conformances), RawRepresentable", Schema.Members([]), first: first, rawValue: raw,
                inline: inline, to: &source)
        }
    }

    /// Whether a definition holds itself other than through an array or a map, so that only a
    /// reference type can express it.
    func isRecursive(_ name: String) -> Bool {
        var seen: Set<String> = []
        var open = [name]
        while let next = open.popLast() {
            guard let definition = contract.definitions[next] else { continue }
            for held in definition.held {
                if held == name { return true }
                if seen.insert(held).inserted { open.append(held) }
            }
        }
        return false
    }

    private var needsFoundation: Bool {
        var open: [Schema] = Array(contract.definitions.values)
        open += contract.actions.flatMap(\.schemas) + contract.properties.compactMap(\.value)
        open += (contract.broadcasts + contract.reports).compactMap(\.content)
        return open.contains { $0.contains { Self.foundationType($0) != nil } }
    }
}

extension Schema {
    /// The definitions whose values are part of this schema's values themselves.
    fileprivate var held: [String] {
        switch form {
        case .reference(let name): [name]
        case .object(let members): members.properties.flatMap(\.schema.held)
        case .union(let options), .tuple(let options): options.flatMap(\.held)
        case .any, .null, .boolean, .integer, .number, .string, .enumeration, .array, .map: []
        }
    }

    /// Whether this schema or one in it, without following references, satisfies a condition.
    func contains(_ condition: (Schema) -> Bool) -> Bool {
        if condition(self) { return true }
        return switch form {
        case .array(let element, _, _): element.contains(condition)
        case .tuple(let elements), .union(let elements): elements.contains { $0.contains(condition) }
        case .object(let members): members.properties.contains { $0.schema.contains(condition) }
        case .map(let keys, let values): values.contains(condition) || keys?.contains(condition) ?? false
        case .any, .null, .boolean, .integer, .number, .string, .enumeration, .reference: false
        }
    }
}

extension SourceText {
    /// Appends a documentation comment.
    mutating func comment(_ doc: String?) {
        guard let doc else { return }
        for line in doc.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            self.line(line.isEmpty ? "///" : "/// \(line)")
        }
    }
}
