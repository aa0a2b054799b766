public import StrataContracts
import StrataCore

/// Writes an interface's contract as a typed client in TypeScript, for modules and operators' tools.
///
/// Objects become interfaces, and the interface a subclass of `Client` of `strata-bus` with a method for
/// each action. The types are the compiler's alone: nothing checks values at run time.
public struct TypeScriptStub {
    private let contract: Contract

    /// - Parameter contract: The contract of an interface.
    public init(_ contract: Contract) { self.contract = contract }

    /// Returns the name of the stub's file: `track-list.ts` for `TrackList`.
    public static func fileName(of contract: Contract) -> String {
        "\(PythonName.snake(contract.subject.name).replacing("_", with: "-")).ts"
    }

    /// The source, one file.
    public var text: String {
        var types = TypeScriptTypes(contract)
        var client = SourceText()
        var notices = SourceText()
        client.nested { write(to: &$0, notices: &notices, &types) }
        types.defineAll()

        let version = contract.version.map { " \($0)" } ?? ""
        let body = client.text
        var source = SourceText()
        source.line(
            "// Written by `strata contracts export --typescript` from the contract of "
                + "\(contract.subject.name)\(version). Export it again instead of editing it.")
        source.line("import { Client } from \"strata-bus\";")
        let used = ["CallOptions", "Stream", "StreamOptions"].filter {
            body.contains("options?: \($0))") || body.contains(" \($0)<")
        }
        if !used.isEmpty { source.line("import type { \(used.joined(separator: ", ")) } from \"strata-bus\";") }
        for line in types.source.lines + notices.lines { source.line(line) }
        source.line()
        source.docComment(contract.doc)
        source.line("export class \(types.client) extends Client {")
        for line in client.lines { source.line(line) }
        source.line("}")
        return source.text
    }

    /// Writes the members of the client's class, and the interface of its notices' contents.
    private func write(to source: inout SourceText, notices: inout SourceText, _ types: inout TypeScriptTypes) {
        source.line("static override readonly interface = \(TypeScriptName.literal(contract.subject.name));")
        if let version = contract.version {
            source.line("static override readonly version = \(TypeScriptName.literal("\(version)"));")
        }
        var taken: Set<String> = []
        let sent = contract.broadcasts.map { ($0, "broadcast") } + contract.reports.map { ($0, "report") }
        var contents: [String] = []
        var values: [String] = []
        for (notice, kind) in sent {
            let word = contract.shortened(notice.name)
            let content = notice.content.map { types.type($0, named: Identifier.capitalized(word)) }
            let about = content.map { ", whose content is of the type `\($0)`" } ?? ""
            source.docComment(
                "The name of a \(kind)\(about).\(notice.doc.map { " \($0)" } ?? "")", isDeprecated: notice.isDeprecated)
            let constant = Identifier.unique(TypeScriptName.constant(word), in: &taken)
            source.line("static readonly \(constant) = \(TypeScriptName.literal(notice.name));")
            contents.append("\(TypeScriptName.member(notice.name)): \(content ?? "unknown");")
        }
        for property in contract.properties {
            let notice = contract.names(of: property).notice
            let value = property.value.map { types.type($0, named: Identifier.capitalized(property.name)) } ?? "unknown"
            source.docComment(
                "The broadcast that tells the value of `\(property.name)`.\(property.doc.map { " \($0)" } ?? "")",
                isDeprecated: property.isDeprecated)
            let constant = Identifier.unique(TypeScriptName.constant(property.name), in: &taken)
            source.line("static readonly \(constant) = \(TypeScriptName.literal(notice));")
            contents.append("\(TypeScriptName.member(notice)): \(value);")
            values.append(value)
        }
        if !contents.isEmpty {
            notices.line()
            notices.docComment("The contents of the notifications, by name.")
            notices.line("export interface \(types.name("\(types.client)Notices")) {")
            notices.nested { source in for line in contents { source.line(line) } }
            notices.line("}")
        }
        var codes: Set<String> = []
        for problem in contract.problems where codes.insert(problem.code).inserted {
            source.docComment("The code of an error\(problem.doc.map { ": \($0)" } ?? ".")")
            let constant = Identifier.unique(TypeScriptName.constant(contract.shortened(problem.code)), in: &taken)
            source.line("static readonly \(constant) = \(TypeScriptName.literal(problem.code));")
        }
        var methods: Set<String> = []
        for action in contract.actions {
            source.line()
            write(action, Identifier.unique(TypeScriptName.method(action.name), in: &methods), to: &source, &types)
        }
        for (property, value) in zip(contract.properties, values) { write(property, value, &methods, to: &source) }
        source.line()
        let document = TypeScriptName.template(String(decoding: contract.encoded(), as: UTF8.self))
        source.verbatim("    static override readonly contract = \(document);")
    }

    private func write(
        _ action: Contract.Action, _ name: String, to source: inout SourceText, _ types: inout TypeScriptTypes
    ) {
        let word = Identifier.capitalized(action.name)
        var parameters: [String] = []
        var params = "params"
        if let schema = action.params {
            if schema.hasNoMembers {
                params = "undefined"
            } else {
                parameters.append("params: \(types.type(schema, named: word))")
            }
        } else {
            parameters.append("params?: unknown")
        }
        let called = TypeScriptName.literal(action.name)
        let result: String
        let call: String
        switch action.result {
        case .elements(let schema):
            let element = schema.map { types.type($0, named: "\(word)Element") } ?? "unknown"
            parameters.append("options?: StreamOptions")
            result = "Stream<\(element)>"
            call = "this.streamAction<\(element)>(\(called), \(params), options)"
        case .reply(let schema):
            let reply = schema.map { $0.hasNoMembers ? "void" : types.type($0, named: "\(word)Reply") } ?? "unknown"
            parameters.append("options?: CallOptions")
            result = "Promise<\(reply)>"
            call = "this.callAction<\(reply)>(\(called), \(params), options)"
        }
        source.docComment(Self.notes(action.docWithoutDescriptors, action.errors), isDeprecated: action.isDeprecated)
        source.line("\(name)(\(parameters.joined(separator: ", "))): \(result) {")
        source.nested { $0.line("return \(call);") }
        source.line("}")
    }

    private static func notes(_ doc: String?, _ errors: [Contract.Problem]) -> String? {
        let codes = errors.map { "`\($0.code)`" }.joined(separator: ", ")
        let notes = [doc, codes.isEmpty ? nil : "Fails with \(codes)."].compactMap { $0 }
        return notes.isEmpty ? nil : notes.joined(separator: "\n\n")
    }

    /// Writes the method that reads a property, and the one that sets it: `volume` and `setVolume`.
    private func write(
        _ property: Contract.Property, _ value: String, _ methods: inout Set<String>, to source: inout SourceText
    ) {
        let names = contract.names(of: property)
        source.line()
        source.docComment(Self.notes(property.doc ?? "Reads the property.", []), isDeprecated: property.isDeprecated)
        let reader = Identifier.unique(TypeScriptName.method(property.name), in: &methods)
        source.line("\(reader)(options?: CallOptions): Promise<\(value)> {")
        source.nested {
            $0.line("return this.callAction<\(value)>(\(TypeScriptName.literal(names.property)), undefined, options);")
        }
        source.line("}")
        guard property.isSettable else { return }
        source.line()
        source.docComment(
            Self.notes("Sets `\(property.name)`.", property.errors), isDeprecated: property.isDeprecated)
        let setter = Identifier.unique("set\(Identifier.capitalized(property.name))", in: &methods)
        source.line("\(setter)(value: \(value), options?: CallOptions): Promise<void> {")
        source.nested {
            $0.line("return this.callAction<void>(\(TypeScriptName.literal(names.setter)), { value }, options);")
        }
        source.line("}")
    }
}
