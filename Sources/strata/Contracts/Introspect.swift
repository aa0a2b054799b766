import ArgumentParser
import StrataContracts
import StrataCore
import StrataStubs

/// `strata introspect`: shows an interface's contract.
struct Introspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows an interface's actions, properties and notifications, with their types.",
        discussion: """
            EXAMPLE
              strata introspect Catalog                 the whole contract
              strata introspect Catalog/search          one action or property, and the types it uses
              strata introspect Catalog --json          the document, with types as JSON Schema
              strata introspect Catalog --manifest strata.yaml

            It asks the module that provides the interface, on the running bus. With --manifest, or if no bus \
            runs and there is a strata.yaml here, it starts the program with --describe instead.
            """)

    @Argument(
        help: ArgumentHelp("An interface, or one of its actions or properties.", valueName: "interface/action"),
        completion: LiveNames.actions)
    var target: String

    @Option(
        help: ArgumentHelp("Asks this manifest's programs, without a bus.", valueName: "path"),
        completion: .file(extensions: ["yaml", "yml"]))
    var manifest: String?

    @OptionGroup var symbols: SymbolsOption
    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        let parts = target.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let contract = try ContractSource.contract(of: parts[0], manifest: manifest, bus, symbols.graph())
        let answer = Answer(output)
        let text = ContractText(contract)
        guard parts.count == 2, !parts[1].isEmpty else {
            if answer.isForPrograms { return try answer.show(contract.json()) }
            return show(text.lines)
        }
        guard let action = contract.action(parts[1]), let lines = text.lines(ofAction: action.name) else {
            let names = contract.actions.map(\.name) + contract.properties.map(\.name)
            throw Failure(
                .answer,
                "unknown-action: \(contract.subject.name) has no action \(Printable.line(parts[1]))"
                    + InterfaceActions.hint(
                        nearestNames(to: parts[1], in: names).map {
                            "\(contract.subject.name)/\($0)"
                        }),
                code: .unknownAction)
        }
        if answer.isForPrograms { return try answer.show(contract.only(parts[1]).json()) }
        show(lines)
    }

    private func show(_ lines: [String]) {
        for line in lines { StandardOutput.write(line: Printable.line(line)) }
    }
}

extension Contract {
    /// Returns the contract with one action or property only, and the definitions that it uses.
    fileprivate func only(_ name: String) -> Contract {
        var contract = self
        contract.properties = property(name).map { [$0] } ?? []
        contract.actions = contract.properties.isEmpty ? action(name).map { [$0] } ?? [] : []
        (contract.broadcasts, contract.reports) = ([], [])
        let used = contract.usedDefinitions
        contract.definitions = definitions.filter { used.contains($0.key) }
        return contract
    }
}
