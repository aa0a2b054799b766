import StrataCore
import StrataLauncher
import StrataManifest

/// A manifest, and what the programs that it names say of themselves.
struct DescribedApp {
    let manifest: Manifest
    private(set) var descriptions: [String: ModuleDescription] = [:]
    /// Why programs have no description.
    private(set) var failures: [Finding] = []
    /// Modules whose programs don't know `--describe`.
    private(set) var undescribed: [String] = []
    /// The same as `failures`, as sentences.
    private(set) var remarks: [String] = []

    /// Reads the manifest, and starts nothing.
    init(_ path: String) throws(ManifestErrors) {
        var variables: [String: String] = [:]
        variables["STRATA_ENV"] = Environment["STRATA_ENV"]
        manifest = try Manifest.load(path: path, environment: variables)
    }

    /// Starts programs with `--describe`; takes 5 s at most for each.
    /// - Parameter names: the rows whose programs are started; all where there are
    ///   none.
    mutating func describe(_ names: Set<String>? = nil) throws(Failure) {
        let results: [(name: String, result: Result<ModuleDescription, ModuleDescriber.Failure>)]
        var progress: Progress?
        do throws(SystemError) {
            results = try ModuleDescriber(manifest, environment: RunningApp.environment, ownsProcess: true)
                .describe(names) { loop, name in
                    progress?.end()
                    progress = name.map { Progress(loop, "asking \($0) to describe itself") }
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
}
