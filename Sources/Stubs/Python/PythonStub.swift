public import StrataContracts
import StrataCore

/// Writes an interface's contract as a typed client in Python, for modules and operators' tools.
///
/// Objects become dataclasses, and the interface a subclass of `strata_bus.Client` with a method for
/// each action. `mypy --strict` accepts the file.
public struct PythonStub {
    private let contract: Contract

    /// - Parameter contract: The contract of an interface.
    public init(_ contract: Contract) { self.contract = contract }

    /// Returns the name of the stub's file: `track_list.py` for `TrackList`.
    public static func fileName(of contract: Contract) -> String {
        "\(PythonName.snake(contract.subject.name)).py"
    }

    /// The source, one file.
    public var text: String {
        var types = PythonTypes(contract)
        var client = SourceText()
        client.nested { write(to: &$0, &types) }
        for name in contract.definitions.keys.sorted() { types.define(name) }

        let name = types.client
        let version = contract.version.map { " \($0)" } ?? ""
        var source = SourceText()
        source.line(
            "# Written by `strata contracts export --python` from the contract of \(contract.subject.name)\(version). "
                + "Export it again instead of editing it.")
        source.docstring(contract.doc)
        source.line()
        let body = types.source.text + client.text
        for module in ["dataclasses", "datetime", "decimal", "enum", "uuid"] where body.contains("\(module).") {
            source.line("import \(module)")
        }
        if body.contains("Iterable[") { source.line("from collections.abc import Iterable") }
        let typing = ["Annotated", "Any", "Final", "Literal"].filter { body.contains($0) }
        if !typing.isEmpty { source.line("from typing import \(typing.joined(separator: ", "))") }
        source.line()
        let used = ["Format", "Length", "Pattern", "Range", "WireName"].filter { body.contains("\($0)(") }
        let streams = ["Stream", "TypedStream"].filter { body.contains("-> \($0)") }
        let descriptors = ["Descriptor": "list[Descriptor]", "DescriptorLike": "Iterable[DescriptorLike]"]
            .filter { body.contains($0.value) }.keys
        let imported = ["Client"] + used + streams + descriptors
        source.line("from strata_bus import \(imported.sorted().joined(separator: ", "))")
        source.line()
        source.list("__all__ = [", (types.exported + [name]).sorted().map(PythonName.literal), "]")
        for line in types.source.lines { source.line(line) }
        source.line()
        source.line()
        source.line("class \(name)(Client):")
        for line in client.lines { source.line(line) }
        return source.text
    }

    /// Writes the members of the client's class.
    private func write(to source: inout SourceText, _ types: inout PythonTypes) {
        source.docstring(contract.doc)
        source.line()
        source.line("interface = \(PythonName.literal(contract.subject.name))")
        var taken: Set<String> = ["interface", "contract"]
        let notices =
            contract.broadcasts.map { ($0, "broadcast") } + contract.reports.map { ($0, "report") }
        for (index, (notice, kind)) in notices.enumerated() {
            if index == 0 { source.line() }
            let word = contract.shortened(notice.name)
            let content = notice.content.map { types.type($0, named: Identifier.capitalized(word)) }
            let constant = Identifier.unique(PythonName.constant(word), in: &taken)
            source.line("\(constant): Final = \(PythonName.literal(notice.name))")
            let about = content.map { ", whose content is a `\($0.text)`" } ?? ""
            source.docstring("The name of a \(kind)\(about).\(notice.doc.map { " \($0)" } ?? "")")
        }
        for (index, property) in contract.properties.enumerated() {
            if index == 0, notices.isEmpty { source.line() }
            let content = property.value.map { types.type($0, named: Identifier.capitalized(property.name)) }
            let constant = Identifier.unique(PythonName.constant(property.name), in: &taken)
            source.line("\(constant): Final = \(PythonName.literal(contract.names(of: property).notice))")
            let about = content.map { ", a `\($0.text)`" } ?? ""
            let doc = property.doc.map { " \($0)" } ?? ""
            source.docstring("The broadcast that tells the value of `\(property.name)`\(about).\(doc)")
        }
        var codes: Set<String> = []
        for problem in contract.problems where codes.insert(problem.code).inserted {
            let constant = Identifier.unique(PythonName.constant(contract.shortened(problem.code)), in: &taken)
            source.line("\(constant): Final = \(PythonName.literal(problem.code))")
            source.docstring("The code of an error\(problem.doc.map { ": \($0)" } ?? ".")")
        }
        for action in contract.actions {
            source.line()
            write(action, Identifier.unique(PythonName.attribute(action.name), in: &taken), to: &source, &types)
        }
        for property in contract.properties { write(property, &taken, to: &source, &types) }
        source.line()
        source.line("contract = \"\"\"\\")
        let document = String(decoding: contract.encoded(), as: UTF8.self)
        source.verbatim(
            document.replacing("\\", with: "\\\\").replacing("\"\"\"", with: "\\\"\\\"\\\"") + "\"\"\"")
    }

    private func write(
        _ action: Contract.Action, _ name: String, to source: inout SourceText, _ types: inout PythonTypes
    ) {
        let word = Identifier.capitalized(action.name)
        var parameters = ["self"]
        var params = "params"
        if let schema = action.params {
            if schema.hasNoMembers {
                params = "None"
            } else {
                parameters.append("params: \(types.type(schema, named: word).quoted)")
            }
        } else {
            parameters.append("params: Any = None")
        }
        parameters.append("*")
        var doc = action.doc
        let called = PythonName.literal(action.name)
        let body: [String]
        let header: String
        switch action.result {
        case .elements(let schema):
            doc = action.docWithoutDescriptors
            parameters += [Self.deadline, "credit: int = 16"]
            let element = schema.flatMap { $0.form == .any ? nil : types.type($0, named: "\(word)Element") }
            header = "def \(name)(\(parameters.joined(separator: ", "))) -> "
            let type = element.map { "TypedStream[\($0.text)]" } ?? "Stream"
            body = [
                "\(type):",
                "return self._stream(\(called), \(params)\(element.map { ", \($0.text)" } ?? ""), deadline=deadline, "
                    + "credit=credit)",
            ]
        case .reply(let schema) where action.descriptors != .none:
            doc = [
                doc, "Descriptors: \(action.descriptors). Whoever calls it is made with `descriptors=True`.",
            ].compactMap { $0 }.joined(separator: "\n\n")
            let sent = action.descriptors.params > 0
            parameters += (sent ? ["descriptors: Iterable[DescriptorLike] = ()"] : []) + [Self.deadline]
            header = "async def \(name)(\(parameters.joined(separator: ", "))) -> "
            let isEmpty = schema?.hasNoMembers == true
            let reply = isEmpty ? "None" : schema.map { types.type($0, named: "\(word)Reply").text } ?? "Any"
            let call =
                "await self._call_with_descriptors(\(called), \(params), \(reply == "Any" ? "None" : reply), "
                + "\(sent ? "descriptors=descriptors, " : "")deadline=deadline)"
            switch (action.descriptors.reply > 0, isEmpty) {
            case (true, true): body = ["list[Descriptor]:", "return (\(call)).descriptors"]
            case (true, false): body = ["tuple[\(reply), list[Descriptor]]:", "return \(call)"]
            case (false, true): body = ["None:", call]
            case (false, false): body = ["\(reply):", "reply: \(reply) = (\(call)).value", "return reply"]
            }
        case .reply(let schema) where schema?.hasNoMembers == true:
            parameters.append(Self.deadline)
            header = "async def \(name)(\(parameters.joined(separator: ", "))) -> "
            body = ["None:", "await self._call(\(called), \(params), deadline=deadline)"]
        case .reply(let schema):
            parameters.append(Self.deadline)
            let reply = schema.map { types.type($0, named: "\(word)Reply").text } ?? "Any"
            header = "async def \(name)(\(parameters.joined(separator: ", "))) -> "
            body = [
                "\(reply):",
                "reply: \(reply) = await self._call(\(called), \(params), "
                    + "\(reply == "Any" ? "None" : reply), deadline=deadline)", "return reply",
            ]
        }
        source.line(header + body[0])
        source.nested { source in
            source.docstring(Self.notes(doc, action.isDeprecated, action.errors))
            for line in body.dropFirst() { source.line(line) }
        }
    }

    private static let deadline = "deadline: float | None = None"

    private static func notes(_ doc: String?, _ isDeprecated: Bool, _ errors: [Contract.Problem]) -> String? {
        let notes = [
            doc, isDeprecated ? "Deprecated." : nil,
            errors.isEmpty ? nil : "Raises \(errors.map { "`\($0.code)`" }.joined(separator: ", ")).",
        ].compactMap { $0 }
        return notes.isEmpty ? nil : notes.joined(separator: "\n\n")
    }

    /// Writes the method that reads a property, and the one that sets it: `volume` and `set_volume`.
    private func write(
        _ property: Contract.Property, _ taken: inout Set<String>, to source: inout SourceText,
        _ types: inout PythonTypes
    ) {
        let type = property.value.map { types.type($0, named: Identifier.capitalized(property.name)) }
        let value = type?.text ?? "Any"
        let names = contract.names(of: property)
        source.line()
        let reader = Identifier.unique(PythonName.attribute(property.name), in: &taken)
        source.line("async def \(reader)(self, *, deadline: float | None = None) -> \(value):")
        source.nested { source in
            source.docstring(Self.notes(property.doc ?? "Reads the property.", property.isDeprecated, []))
            source.line(
                "value: \(value) = await self._call(\(PythonName.literal(names.property)), None, "
                    + "\(value == "Any" ? "None" : value), deadline=deadline)")
            source.line("return value")
        }
        guard property.isSettable else { return }
        source.line()
        let setter = Identifier.unique("set_\(PythonName.snake(property.name))", in: &taken)
        source.line(
            "async def \(setter)(self, value: \(type?.quoted ?? "Any"), *, deadline: float | None = None) -> None:")
        source.nested { source in
            source.docstring(Self.notes("Sets `\(property.name)`.", property.isDeprecated, property.errors))
            source.line(
                "await self._set(\(PythonName.literal(names.setter)), value, \(value), deadline=deadline)")
        }
    }
}

extension Contract {
    /// Returns the name of a notification or an error without the interface's own name in front.
    func shortened(_ name: String) -> String {
        let prefix = "\(subject.name.lowercased())."
        return name.count > prefix.count && name.lowercased().hasPrefix(prefix)
            ? String(name.dropFirst(prefix.count)) : name
    }
}

extension Schema {
    /// Whether it is an object of which nothing more is said.
    var hasNoMembers: Bool {
        guard case .object(let members) = form else { return false }
        return members.properties.isEmpty && !members.isClosed
    }
}
