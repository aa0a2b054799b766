import ArgumentParser
import Glibc
import StrataContracts
import StrataCore
import StrataSymbols

/// The doc comments of Swift modules, which a command adds to their contracts.
struct SymbolsOption: ParsableArguments {
    /// The longest file that is read, in bytes.
    private static let mostBytes = 256 << 20

    @Option(
        help: ArgumentHelp(
            "Takes doc comments of Swift modules from this folder's *.symbols.json, which swift-symbolgraph-extract writes.",
            valueName: "folder"),
        completion: .directory)
    var symbols: String?

    /// Reads the folder's symbol graphs; nil if none was named.
    func graph() throws(Failure) -> SymbolGraph? {
        guard let folder = symbols else { return nil }
        guard let names = ContractFiles.names(in: folder, suffix: ".symbols.json") else {
            throw Failure(.usage, "\(Printable.line(folder)) can't be read: \(String(cString: strerror(errno)))")
        }
        guard !names.isEmpty else {
            throw Failure(.usage, "\(Printable.line(folder)) has no symbol graph, *.symbols.json")
        }
        var graph = SymbolGraph()
        for name in names { try add("\(folder)/\(name)", to: &graph) }
        return graph
    }

    private func add(_ path: String, to graph: inout SymbolGraph) throws(Failure) {
        guard let bytes = ContractFiles.bytes(of: path, limit: Self.mostBytes) else {
            throw Failure(.usage, "\(Printable.line(path)) can't be read: \(String(cString: strerror(errno)))")
        }
        guard bytes.count <= Self.mostBytes else {
            throw Failure(.usage, "\(Printable.line(path)) has over \(Self.mostBytes) bytes")
        }
        do { try graph.add(JSON(parsing: bytes)) } catch {
            throw Failure(.usage, "\(Printable.line(path)) is no symbol graph: \(Printable.line("\(error)"))")
        }
    }
}

extension SymbolGraph {
    /// Adds doc comments to a module's contracts.
    /// - Throws: if a type reads itself by hand, so that what was derived from it may be wrong.
    func completeAll(_ contracts: inout ModuleContracts) throws(Failure) {
        complete(&contracts)
        let written = writtenTypes(contracts.types.filter { !$0.key.hasPrefix("/requires/") })
        guard written.isEmpty else {
            throw Failure(
                .answer,
                written.map {
                    "\(Printable.line($0.type)) has an `init(from:)` written by hand, which may hide what it takes: "
                        + "conform it to ContractDescribing"
                }.joined(separator: "\n"), isPlain: true)
        }
    }
}
