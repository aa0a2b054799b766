import Glibc
import StrataCore
import StrataManifest

/// `strata new module`: adds a module to an app. All is written, or nothing.
struct NewModule {
    let name: String
    /// The app's folder.
    let folder: String
    /// The level's name; nil for the last one.
    let level: String?
    let isPython: Bool
    /// The value of `--strata`.
    let strata: String?

    /// A file that is there and changes.
    private typealias Changed = (path: String, before: [UInt8], after: [UInt8])

    /// Adds the module.
    /// - Returns: The paths of the files that are new or have changed.
    func run() throws(Failure) -> [String] {
        try PackageNames.check(module: name)
        let manifest = try readManifest()
        let template = ModuleTemplate(name: name)
        var files: [NewFile]
        var changed: [Changed] = []
        let program: String
        if isPython {
            try PythonProgram.checkFile(template.pythonName, of: name)
            files = template.pythonFiles
            if access(path("strata_bus.py"), F_OK) != 0 {
                let client = try PythonProgram.bundle(of: StrataDependency(strata))
                files.append(NewFile(path: "strata_bus.py", text: client))
            }
            program = "\(template.pythonName).py"
        } else {
            files = template.swiftFiles
            changed.append(try package(template))
            let isRelease = manifest.processes.contains { $0.run.first?.hasPrefix(".build/release/") == true }
            program = ".build/\(isRelease ? "release" : "debug")/\(name)"
        }
        let row = NewRow(
            name: name, level: try level(of: manifest), run: [program], provides: [name],
            node: manifest.table.nodes.first?.name)
        do throws(ManifestErrors) {
            changed += try ManifestFix(adding: row, to: manifest, environment: RunningApp.environment).files.map {
                ($0.path, $0.before, $0.after)
            }
        } catch {
            throw Failure(.usage, "\(error)\nstrata: nothing was written", isPlain: true)
        }
        try NewFolder.add(files, to: folder) { () throws(Failure) in try ReplacedFile.replace(changed) }
        return files.map(\.path) + changed.map { $0.path.split(separator: "/").last.map(String.init) ?? $0.path }
    }

    private func path(_ name: String) -> String { folder == "." ? name : "\(folder)/\(name)" }

    private func readManifest() throws(Failure) -> Manifest {
        let file = path("strata.yaml")
        guard access(file, F_OK) == 0 else {
            throw Failure(.usage, "\(file) isn't there: run this in the app's folder, or name the folder with --path")
        }
        let manifest: Manifest
        do throws(ManifestErrors) {
            manifest = try Manifest.load(path: file, environment: RunningApp.environment)
        } catch {
            throw Failure(.usage, "\(error)", isPlain: true)
        }
        for row in manifest.table.modules {
            guard row.name != name, !row.provides.contains(name) else {
                let what = row.name == name ? "has a row \(name)" : "has the interface \(name), of \(row.name),"
                throw Failure(.usage, "\(file) \(what) already: choose another name")
            }
        }
        return manifest
    }

    private func level(of manifest: Manifest) throws(Failure) -> String {
        let levels = manifest.table.levels
        guard let level else { return levels[levels.count - 1] }
        guard levels.contains(level) else {
            let near = InterfaceActions.hint(nearestNames(to: level, in: levels))
            throw Failure(
                .usage, "--level \(level): the app's levels are \(levels.joined(separator: ", "))\(near)")
        }
        return level
    }

    /// Returns Package.swift with the module's targets.
    private func package(_ template: ModuleTemplate) throws(Failure) -> Changed {
        let file = path("Package.swift")
        guard let bytes = ReplacedFile.content(file) else {
            throw Failure(.usage, "\(file): \(String(cString: strerror(errno))); a module in Python has --python")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        for target in [name, "\(name)Interface", "\(name)Tests"] where text.contains("name: \"\(target)\"") {
            throw Failure(.usage, "\(file) has the name \(target) already: choose another name")
        }
        let strata = PackageTargets.strata(in: text)
        let targets = template.targets(
            strata: strata?.dependency ?? ".product(name: \"Strata\", package: \"strata\")",
            identity: strata?.identity ?? "strata")
        guard strata != nil, let place = PackageTargets(text) else {
            let what =
                strata == nil
                ? "doesn't depend on the product Strata, with .product(name: \"Strata\", package: …)"
                : "has no list targets: [ … ] in Package( … )"
            throw Failure(
                .usage,
                "\(file) \(what), so nothing was written. Add these targets by hand, or mend it and try again:\n"
                    + targets.map { "    \($0)" }.joined(separator: "\n"))
        }
        return (file, bytes, Array(place.adding(targets).utf8))
    }
}
