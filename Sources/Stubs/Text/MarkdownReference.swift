public import StrataContracts
import StrataCore

/// Writes a contract as a page of Markdown, for people who read documentation.
public struct MarkdownReference {
    private let contract: Contract

    public init(_ contract: Contract) { self.contract = contract }

    /// The page.
    public var text: String {
        var lines = ["# \(contract.subject.name)\(contract.version.map { " \($0)" } ?? "")"]
        lines += paragraph(contract.doc)
        if contract.hasInstances { lines += paragraph("Each user creates instances of its own.") }
        lines += section("Actions", contract.actions.map(action))
        lines += section("Properties", contract.properties.map(property))
        lines += section("Broadcasts", contract.broadcasts.map(notice))
        lines += section("Reports", contract.reports.map(notice))
        lines += section("Observed notifications", contract.observes.map(notice))
        if let settings = contract.settings { lines += section("Settings", [table(settings, "setting")]) }
        let definitions = contract.definitions.sorted { $0.key < $1.key }
        lines += section("Types", definitions.map { definition($0, $1) })
        return lines.joined(separator: "\n") + "\n"
    }

    private func section(_ title: String, _ parts: [[String]]) -> [String] {
        parts.isEmpty ? [] : ["", "## \(title)"] + parts.joined()
    }

    private func paragraph(_ text: String?) -> [String] {
        guard let text else { return [] }
        return [""] + text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { escaped("\($0)") }
    }

    private func action(_ action: Contract.Action) -> [String] {
        var lines = ["", "### \(escaped(action.name))", "", code(ContractText(contract).signature(of: action))]
        lines += paragraph(action.doc)
        if action.isDeprecated { lines += paragraph("Deprecated.") }
        if action.needsAuthorization == true { lines += paragraph("Asks the app's authorizer.") }
        if action.descriptors != .none { lines += paragraph("Descriptors: \(action.descriptors).") }
        if let params = action.params?.members(in: contract) { lines += table(params, "param") }
        return lines + table(action.errors)
    }

    private func property(_ property: Contract.Property) -> [String] {
        var lines = ["", "### \(escaped(property.name))", "", code(ContractText(contract).signature(of: property))]
        lines += paragraph(property.doc)
        if property.isDeprecated { lines += paragraph("Deprecated.") }
        let names = contract.names(of: property)
        let setting = property.isSettable ? ", \(code(names.set)) sets it" : ""
        let broadcast = "the retained broadcast \(code(names.notice)) tells it"
        lines += ["", "\(code(names.get)) reads it\(setting), and \(broadcast)."]
        if property.needsAuthorization == true { lines += paragraph("Setting it asks the app's authorizer.") }
        let bounds = property.value.flatMap(SchemaText.bounds)
        if let bounds { lines += paragraph("Values: \(bounds).") }
        if let members = property.value?.members(in: contract) { lines += table(members, "member") }
        return lines + table(property.errors)
    }

    private func table(_ errors: [Contract.Problem]) -> [String] {
        guard !errors.isEmpty else { return [] }
        return ["", "| error | meaning |", "|---|---|"] + errors.map { "| \(code($0.code)) | \(cell($0.doc)) |" }
    }

    private func notice(_ notice: Contract.Notice) -> [String] {
        var lines = ["", "### \(escaped(notice.name))"] + paragraph(notice.doc)
        if notice.isDeprecated { lines += paragraph("Deprecated.") }
        guard let content = notice.content else { return lines }
        if let members = content.members(in: contract) {
            lines += table(members, "member")
        } else {
            lines += ["", code(SchemaText.type(content))]
        }
        return lines
    }

    private func definition(_ name: String, _ schema: Schema) -> [String] {
        var lines = ["", "### \(escaped(name))"] + paragraph(schema.doc)
        if case .object(let members) = schema.form {
            lines += table(members, "member")
        } else {
            lines += ["", code(SchemaText.type(schema))]
        }
        return lines
    }

    private func table(_ members: Schema.Members, _ title: String) -> [String] {
        guard !members.properties.isEmpty else { return [] }
        return ["", "| \(title) | type | |", "|---|---|---|"]
            + members.properties.map { property in
                let type = SchemaText.type(property.isRequired ? property.schema : property.schema.withoutNull)
                let notes = [
                    property.isRequired ? nil : "optional",
                    property.schema.defaultValue.map { "default \(code("\($0)"))" },
                    SchemaText.bounds(property.schema).map(cell), property.schema.isSecret ? "secret" : nil,
                    property.schema.isDeprecated ? "deprecated" : nil,
                ].compactMap { $0 }.joined(separator: ", ")
                let doc = cell(property.schema.doc ?? property.schema.withoutNull.doc)
                let remark = [doc, notes].filter { !$0.isEmpty }.joined(separator: " · ")
                return "| \(code(property.name)) | \(code(type)) | \(remark) |"
            }
    }

    /// Returns a text on one line for a table.
    private func cell(_ text: String?) -> String {
        escaped((text ?? "").split(whereSeparator: \.isNewline).joined(separator: " "))
    }

    /// Returns a text in which nothing is markup.
    private func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            if "\\`*_{}[]<>#|&".contains(character) { escaped += "\\" }
            escaped.append(character)
        }
    }

    /// Returns a text as code, in as many backquotes as it needs.
    private func code(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ").replacing("|", with: "\\|")
        let longest = line.split(omittingEmptySubsequences: true) { $0 != "`" }.map(\.count).max() ?? 0
        guard longest > 0 else { return "`\(line)`" }
        let fence = String(repeating: "`", count: longest + 1)
        return "\(fence) \(line) \(fence)"
    }
}
