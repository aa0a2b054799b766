import ArgumentParser
import Glibc
import StrataContracts
import StrataCore
import StrataManifest
import StrataStubs
import StrataSymbols

/// `strata contracts export`: writes the contracts of an app's programs into a folder.
struct ExportContracts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the contracts of an app's programs into a folder.",
        discussion: """
            EXAMPLE
              strata contracts export contracts            one JSON document for each interface
              strata contracts export contracts --check    exit code 1 if a file is stale
              strata contracts export stubs --python       a client in Python for each interface
              strata contracts export . --python --only Storage
              strata contracts export src --typescript     a client in TypeScript for each interface
              strata contracts export docs --markdown      a reference for people

            It starts each program of the manifest with --describe. No bus is needed. A module that sends or \
            observes notifications with types, or declares settings, also has a document, Name.module.json.
            """)

    enum Format: String, EnumerableFlag {
        case python, typescript, swift, markdown

        static func help(for value: Format) -> ArgumentHelp? {
            switch value {
            case .python: "Writes typed clients in Python."
            case .typescript: "Writes typed clients in TypeScript."
            case .swift: "Writes the interfaces as Swift source."
            case .markdown: "Writes pages in Markdown."
            }
        }
    }

    @Argument(help: "The folder; it is made if it doesn't exist.", completion: .directory)
    var folder: String

    @Flag var format: Format?

    @Option(help: ArgumentHelp("The manifest.", valueName: "path"), completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @Option(
        name: .customLong("only"),
        help: ArgumentHelp("Only this interface; may be given several times.", valueName: "interface"))
    var interfaces: [String] = []

    @Flag(help: "Writes nothing, and says which files would change.")
    var check = false

    @OptionGroup var symbols: SymbolsOption

    func run() throws {
        var app: DescribedApp
        do throws(ManifestErrors) { app = try DescribedApp(manifest) } catch {
            throw Failure(.usage, error.description, isPlain: true)
        }
        // The provider alone of each interface that is wanted: other programs may need what is exported to
        // be built.
        let providers = interfaces.map { Judge(app.manifest).provider(of: $0) }
        try app.describe(interfaces.isEmpty || providers.contains(nil) ? nil : Set(providers.compactMap { $0 }))
        // Without one program's contracts the folder would say that its interfaces are gone.
        let failures = app.failures.filter { $0.severity == .error }
        guard failures.isEmpty else {
            throw Failure(.answer, failures.map { "\($0)" }.joined(separator: "\n"), isPlain: true)
        }
        for remark in app.remarks { StandardError.write("strata: \(Printable.line(remark))") }
        let graph = try symbols.graph()
        var files: [File] = []
        for (_, description) in app.descriptions.sorted(by: { $0.key < $1.key }) {
            guard var contracts = description.contracts else { continue }
            try graph?.completeAll(&contracts)
            files += self.files(of: contracts)
        }
        if !interfaces.isEmpty { files = try only(files) }
        guard !files.isEmpty else {
            throw Failure(.answer, "no program of \(Printable.line(manifest)) describes its types")
        }
        try check ? compare(files) : write(files)
    }

    /// A file of the folder.
    private struct File {
        /// The interface or the module that it is about.
        var subject: String
        var name: String
        var bytes: [UInt8]
    }

    private func files(of contracts: ModuleContracts) -> [File] {
        var files = contracts.provides.map { contract in
            let name = contract.subject.name
            return switch format {
            case nil: File(subject: name, name: "\(name).json", bytes: contract.encoded())
            case .python:
                File(
                    subject: name, name: PythonStub.fileName(of: contract),
                    bytes: Array(PythonStub(contract).text.utf8))
            case .typescript:
                File(
                    subject: name, name: TypeScriptStub.fileName(of: contract),
                    bytes: Array(TypeScriptStub(contract).text.utf8))
            case .swift: File(subject: name, name: "\(name).swift", bytes: Array(SwiftSource(contract).text.utf8))
            case .markdown: File(subject: name, name: "\(name).md", bytes: Array(MarkdownReference(contract).text.utf8))
            }
        }
        let own = contracts.module
        if format == nil, own != Contract(own.subject) {
            files.append(File(subject: own.subject.name, name: "\(own.subject.name).module.json", bytes: own.encoded()))
        }
        return files
    }

    /// Returns the files of the interfaces that are wanted.
    private func only(_ files: [File]) throws(Failure) -> [File] {
        let found = files.filter { interfaces.contains($0.subject) }
        for interface in interfaces where !found.contains(where: { $0.subject == interface }) {
            throw Failure(
                .answer,
                "no program describes \(Printable.line(interface))"
                    + InterfaceActions.hint(nearestNames(to: interface, in: files.map(\.subject))))
        }
        return found
    }

    private func write(_ files: [File]) throws(Failure) {
        guard mkdir(folder, 0o777) == 0 || errno == EEXIST else { throw failure(folder) }
        for file in files {
            let path = "\(folder)/\(file.name)"
            guard ContractFiles.bytes(of: path) != file.bytes else { continue }
            try FileOutput.write(file.bytes, to: path)
            StandardOutput.write(line: "wrote \(Printable.line(path))")
        }
        for name in stale(files) {
            let path = Printable.line("\(folder)/\(name)")
            StandardError.write("strata: \(path) is of no program; remove it if you don't need it")
        }
    }

    private func compare(_ files: [File]) throws(Failure) {
        var changed = files.filter { ContractFiles.bytes(of: "\(folder)/\($0.name)") != $0.bytes }.map(\.name)
        changed += stale(files)
        guard changed.isEmpty else {
            throw Failure(
                .answer,
                "not up to date: \(changed.sorted().map { Printable.line("\(folder)/\($0)") }.joined(separator: ", ")); "
                    + "run this command without --check, and commit what it changes")
        }
    }

    /// Returns the documents in the folder that no program has.
    private func stale(_ files: [File]) -> [String] {
        guard format == nil, interfaces.isEmpty else { return [] }
        let known = Set(files.map(\.name))
        return (ContractFiles.names(in: folder) ?? []).filter { !known.contains($0) }
    }

    private func failure(_ path: String) -> Failure {
        Failure(.usage, "\(Printable.line(path)) can't be made: \(String(cString: strerror(errno)))")
    }
}
