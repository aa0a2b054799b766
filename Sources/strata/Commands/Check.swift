import ArgumentParser
import Glibc
import StrataCore
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
            executables that can't be run.
            """)

    @Argument(help: "The manifest.")
    var manifest = "strata.yaml"

    @Flag(help: "Looks at the manifest alone, and at no executable.")
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
        var errors = ManifestReview(loaded).errors
        if !`static` { errors += loaded.processes.compactMap { Self.executableError($0, manifest: manifest) } }
        if !errors.isEmpty { try refuse(errors) }
        let answer = Answer(output)
        let count = loaded.table.modules.count
        if answer.isForPrograms {
            return try answer.show([
                "file": .string(manifest), "app": .string(loaded.table.app), "modules": .integer(Int64(count)),
            ])
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

    /// What keeps a module's executable from being started, where that can be
    /// told by looking at it.
    private static func executableError(_ process: ModuleProcess, manifest: String) -> ManifestError? {
        guard let path = process.executable else { return nil }
        var status = stat()
        let problem: String
        if stat(path, &status) != 0 {
            problem = errno == ENOENT ? "is not there" : String(cString: strerror(errno))
        } else if status.st_mode & S_IFMT != S_IFREG {
            problem = "is no file"
        } else if access(path, X_OK) != 0 {
            problem = "can't be executed: \(String(cString: strerror(errno)))"
        } else {
            return nil
        }
        return ManifestError(
            file: manifest, line: nil, column: nil, key: "modules.\(process.name).run",
            message: "expected an executable; \(path) \(problem)")
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
