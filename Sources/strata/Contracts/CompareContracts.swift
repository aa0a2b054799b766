import ArgumentParser
import Glibc
import StrataComparing
import StrataContracts
import StrataCore

/// `strata contracts compare`: says whether a contract's change breaks callers and observers.
struct CompareContracts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Says how contracts have changed, and whether their versions say so.",
        discussion: """
            EXAMPLE
              strata contracts compare old/Catalog.json contracts/Catalog.json
              strata contracts compare <(git show HEAD:contracts/Catalog.json) contracts/Catalog.json
              strata contracts compare old/ contracts/

            A breaking change needs a higher major version, a compatible one a higher minor version. Of two \
            folders, files of the same name are compared; a file that is gone is a breaking change.

            Exit codes: 0 the versions say what has changed; 1 one doesn't; 2 bad usage.
            """)

    @Argument(help: "The old contract, or a folder of contracts.", completion: .file())
    var old: String

    @Argument(help: "The new contract, or a folder of contracts.", completion: .file())
    var new: String

    @OptionGroup var output: OutputOption

    func run() throws {
        let answer = Answer(output)
        var isHonest = true
        for (name, old, new) in try pairs() {
            guard let new else {
                isHonest = false
                try show(answer, name, ["result": "breaking", "fault": "the contract is gone"])
                continue
            }
            guard let old else {
                try show(answer, name, ["result": "new"])
                continue
            }
            let comparison = new.changes(from: old)
            isHonest = isHonest && comparison.versionFault == nil
            try show(answer, name, comparison, old, new)
        }
        if !isHonest { exitNow(.answer) }
    }

    /// Returns the contracts to compare, each with its name.
    private func pairs() throws(Failure) -> [(name: String, old: Contract?, new: Contract?)] {
        guard let before = ContractFiles.names(in: old), let after = ContractFiles.names(in: new) else {
            let contract = try ContractFiles.read(new)
            return [(contract.subject.name, try ContractFiles.read(old), contract)]
        }
        guard !before.isEmpty || !after.isEmpty else {
            throw Failure(.usage, "neither \(Printable.line(old)) nor \(Printable.line(new)) has a file *.json")
        }
        var pairs: [(name: String, old: Contract?, new: Contract?)] = []
        for name in Set(before + after).sorted() {
            let stem = String(name.dropLast(".json".count))
            pairs.append(
                (
                    stem, before.contains(name) ? try ContractFiles.read("\(old)/\(name)") : nil,
                    after.contains(name) ? try ContractFiles.read("\(new)/\(name)") : nil
                ))
        }
        return pairs
    }

    private func show(
        _ answer: Answer, _ name: String, _ comparison: ContractComparison, _ old: Contract, _ new: Contract
    ) throws(Failure) {
        var members = [JSON.Member("result", .string(comparison.result.rawValue))]
        if let version = old.version { members.append(.init("old", .string("\(version)"))) }
        if let version = new.version { members.append(.init("new", .string("\(version)"))) }
        if let fault = comparison.versionFault { members.append(.init("fault", .string(fault))) }
        guard answer.isForPrograms else {
            try show(answer, name, .object(members))
            for change in comparison.changes {
                let kind = answer.painter.paint(change.kind.rawValue, change.kind == .breaking ? .red : .dim)
                let words = Printable.line("\(change.path): \(change.old) → \(change.new)")
                StandardOutput.write(line: "  \(kind)  \(words)")
            }
            return
        }
        let changes = comparison.changes.map { change -> JSON in
            [
                "kind": .string(change.kind.rawValue), "path": .string(change.path), "old": .string(change.old),
                "new": .string(change.new),
            ]
        }
        try show(answer, name, .object(members + [.init("changes", .array(changes))]))
    }

    /// Shows one contract's line: for a person `Catalog 1.0 → 1.1: compatible`.
    private func show(_ answer: Answer, _ name: String, _ result: JSON) throws(Failure) {
        guard !answer.isForPrograms else {
            return try answer.show(.object([.init("contract", .string(name))] + (result.object ?? [])))
        }
        let versions = [result["old"]?.string, result["new"]?.string].compactMap { $0 }.joined(separator: " → ")
        let fault = result["fault"]?.string
        var line = answer.painter.paint(Printable.line(name), .bold)
        if !versions.isEmpty { line += " \(versions)" }
        line += ": \(answer.painter.paint(result["result"]?.string ?? "", fault == nil ? .green : .red))"
        if let fault { line += "; \(Printable.line(fault))" }
        StandardOutput.write(line: line)
    }
}
