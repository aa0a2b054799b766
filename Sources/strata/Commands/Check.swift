import ArgumentParser
import StrataCore
import StrataLauncher
import StrataManifest

/// `strata check`: what can be known of an app before anything runs.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks a manifest, and the executables that it names.",
        discussion: """
            EXAMPLE
              strata check
              strata check app/strata.yaml --static

            Shows all errors of the manifest at once, each with its file, line and key; then \
            requirements that nobody meets, calls and reports to a later level, and \
            executables that can't be run. Each executable is started with --describe, and \
            what it says of itself compared with its row; 5 s at most for each.
            """)

    @Argument(help: "The manifest.")
    var manifest = "strata.yaml"

    @Flag(help: "Looks at the manifest alone, and starts no executable.")
    var `static` = false

    @OptionGroup var output: OutputOption

    func run() throws {
        var variables: [String: String] = [:]
        variables["STRATA_ENV"] = Environment["STRATA_ENV"]
        let loaded: Manifest
        do throws(ManifestErrors) {
            loaded = try Manifest.load(path: manifest, environment: variables)
        } catch {
            try refuse(error.errors)
        }
        var errors: [ManifestError] = []
        var undescribed: [String] = []
        var complete = loaded
        if !`static` {
            var descriptions: [String: ModuleDescription] = [:]
            for (name, result) in try describe(loaded) {
                switch result {
                case .success(let description): descriptions[name] = description
                case .failure(let failure):
                    let problem = ManifestError(
                        file: manifest, line: nil, column: nil, key: "modules.\(name).run", message: failure.message)
                    if failure.isError {
                        errors.append(problem)
                    } else {
                        undescribed.append(name)
                        StandardError.write("\(problem); its row is taken at its word")
                    }
                }
            }
            let review = DescriptionReview(loaded, descriptions)
            errors += review.errors
            complete = review.completed
        }
        let review = ManifestReview(complete)
        errors = review.errors + review.unmet + errors
        if !errors.isEmpty { try refuse(errors) }
        let answer = Answer(output)
        let count = loaded.table.modules.count
        if answer.isForPrograms {
            var members: [JSON.Member] = [
                .init("file", .string(manifest)), .init("app", .string(loaded.table.app)),
                .init("modules", .integer(Int64(count))),
            ]
            if !undescribed.isEmpty { members.append(.init("undescribed", .array(undescribed.map { .string($0) }))) }
            return try answer.show(.object(members))
        }
        let modules = count == 1 ? "1 module" : "\(count) modules"
        StandardOutput.write(
            line: "\(Printable.line(manifest)): \(answer.painter.paint(loaded.table.app, .bold)), \(modules): "
                + answer.painter.paint("no errors", .green))
    }

    /// Shows each error: on stderr for a person, as JSON for a program too.
    private func refuse(_ errors: [ManifestError]) throws(Failure) -> Never {
        if Answer(output).isForPrograms {
            for error in errors { try Answer(output).show(error.json) }
        }
        throw Failure(.usage, errors.map(\.description).joined(separator: "\n"), isPlain: true)
    }

    private func describe(_ manifest: Manifest) throws(Failure) -> [(
        name: String, result: Result<ModuleDescription, ModuleDescriber.Failure>
    )] {
        do throws(SystemError) {
            return try ModuleDescriber(manifest, environment: RunningApp.environment).describeAll()
        } catch {
            throw Failure(.answer, "the modules can't be asked to describe themselves: \(error)")
        }
    }
}

extension ManifestError {
    fileprivate var json: JSON {
        var members = [JSON.Member("file", .string(file))]
        if let line { members.append(.init("line", .integer(Int64(line)))) }
        if let column { members.append(.init("column", .integer(Int64(column)))) }
        members.append(.init("key", .string(key)))
        members.append(.init("message", .string(message)))
        return .object(members)
    }
}
