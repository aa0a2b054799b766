import StrataContracts
import StrataCore
import StrataLauncher
import StrataManifest
import StrataSymbols

/// A manifest, and the descriptions that its programs give of themselves.
struct DescribedApp {
    let manifest: Manifest
    private(set) var descriptions: [String: ModuleDescription] = [:]
    /// The reasons why programs have no description.
    private(set) var failures: [Finding] = []
    /// The modules whose programs don't know `--describe`.
    private(set) var undescribed: [String] = []
    /// The content of `failures`, as sentences.
    private(set) var remarks: [String] = []

    /// Reads the manifest, without starting anything.
    init(_ path: String) throws(ManifestErrors) {
        manifest = try Manifest.load(path: path, environment: RunningApp.environment)
    }

    /// Starts programs with `--describe`, some at a time. One that doesn't answer takes 5 s.
    /// - Parameter names: the rows whose programs are started; nil for all.
    mutating func describe(_ names: Set<String>? = nil) throws(Failure) {
        let results: [(name: String, result: Result<ModuleDescription, ModuleDescriber.Failure>)]
        var progress: Progress?
        do throws(SystemError) {
            results = try ModuleDescriber(manifest, environment: RunningApp.environment, ownsProcess: true)
                .describe(names) { loop, asked in
                    progress?.end()
                    progress = asked.isEmpty ? nil : Progress(loop, "asking \(asked.joined(separator: ", "))")
                }
        } catch {
            throw Failure(.answer, "the modules can't be asked to describe themselves: \(error)")
        }
        for (name, result) in results {
            switch result {
            case .success(let description): descriptions[name] = description
            case .failure(let failure):
                if !failure.isError { undescribed.append(name) }
                remarks.append("\(name): \(failure.message).")
                failures.append(
                    Finding(
                        failure.isError ? .error : .advice,
                        manifest.problem(
                            ["modules", .key(name), "run"],
                            failure.isError ? failure.message : "\(failure.message); its row is taken at its word")))
            }
        }
    }

    /// Asks the modules that run on a bus which settings they declare. Those that don't say, or not
    /// at once, are asked later, by their programs: only hello says that a module declares none.
    mutating func describeSettings(_ connection: CommandClient) {
        guard connection.welcome.features.contains(BrokerFeature.contracts),
            let rows = try? connection.modules()
        else { return }
        let running = Set(rows.filter(\.isReady).map { ReplicaName.row(of: $0.name) })
        for name in manifest.table.modules.map(\.name) where running.contains(name) {
            guard let contracts = ContractSource.contractsAtOnce(of: name, connection),
                contracts.module.settings != nil
            else { continue }
            var description = ModuleDescription()
            description.take(contracts)
            descriptions[name] = description
        }
    }

    /// Adds doc comments to what is described.
    mutating func complete(_ graph: SymbolGraph) {
        for (name, description) in descriptions {
            guard var contracts = description.contracts else { continue }
            graph.complete(&contracts)
            descriptions[name]?.take(contracts)
        }
    }
}
