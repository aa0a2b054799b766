import ArgumentParser
import StrataCore

/// `strata new`: makes a package with a contract, two modules and their tests, or adds a module to it.
struct New: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a package: a contract, two modules, a test and a manifest; or adds a module.",
        discussion: """
            EXAMPLE
              strata new greetings
              strata new shop --modules Stock Front
              strata new shop --path ~/apps/shop --strata ../strata
              strata new --python greetings     two programs in Python instead
              strata new module Stock           adds a module to the app in this folder
              strata new module Stock --python --level basic

            The first module provides an interface, the second one calls it. The package can be \
            run (`strata up --build`) and tested (`swift test`) as it is. It depends on the package \
            of strata that this program was built from, or on the one that --strata names.

            strata new module adds a contract, a program, its targets, its row and a test, or \
            with --python a program, its row and a test. All is written, or nothing.
            """)

    @Argument(
        help: "The name of the app and the package: 1 to 32 of a-z, 0-9 and -, a letter first. MyApp becomes my-app.")
    var name: String

    @Argument(help: ArgumentHelp("After the word module: the name of the module to add.", valueName: "module"))
    var module: String?

    @Flag(help: "Writes Python instead of Swift.")
    var python = false

    @Option(help: ArgumentHelp("The level of an added module. Default: the last one.", valueName: "level"))
    var level: String?

    @Option(
        help: ArgumentHelp(
            "The folder to make. Default: the app's name, in the current folder. For an added module, the app's folder.",
            valueName: "folder"),
        completion: .directory)
    var path: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Two modules: the provider and the caller. Default: Greeter Visitor.", valueName: "module"))
    var modules: [String] = []

    @Option(
        help: ArgumentHelp("The strata package that it depends on: a folder or a URL.", valueName: "path-or-url"),
        completion: .directory)
    var strata: String?

    @OptionGroup var output: OutputOption

    func validate() throws {
        guard name == "module" else {
            if let module { throw ValidationError("Unexpected argument '\(module)': strata new takes one name") }
            if level != nil { throw ValidationError("--level is for strata new module") }
            return
        }
        if module == nil { throw ValidationError("Say the module's name, as in strata new module Stock") }
        if !modules.isEmpty { throw ValidationError("--modules is for a new package: leave it out") }
    }

    func run() throws {
        if let module { return try add(module) }
        let names = try PackageNames(app: name, modules: modules.isEmpty ? ["Greeter", "Visitor"] : modules)
        let dependency = try StrataDependency(strata)
        let folder = path ?? names.app
        let files: [NewFile]
        if python {
            for name in [names.provider, names.caller] { try PythonProgram.checkFile(name.lowercased(), of: name) }
            files = PythonTemplate(names: names, client: try PythonProgram.bundle(of: dependency)).files
        } else {
            try dependency.checkApart(from: names.app)
            files = PackageTemplate(names, dependency).files
        }
        try NewFolder.write(files, to: folder)
        if let asked = names.asked {
            StandardError.write(
                "strata: the app is named \(names.app), not \(asked): an app's name has only a-z, 0-9 and -")
        }
        let answer = Answer(output)
        guard !answer.isForPrograms else {
            return try answer.show([
                "app": .string(names.app), "folder": .string(folder), "files": .array(files.map { .string($0.path) }),
                "strata": .string(dependency.place),
            ])
        }
        let origin = python ? "strata_bus.py is from" : "It depends on"
        let lines =
            ["\(folder) has:"] + files.map { "  \($0.path)" }
            + [
                "", "\(origin) \(dependency.description).", "", "  cd \(ShellWord.quoted(folder))",
                "  strata up\(python ? "" : " --build")    then, in another terminal:",
                "  strata call \(names.caller)/visit '{\"who\": \"Ada\"}'",
                python ? "  strata test strata.yaml --play \(names.caller) -- python3 -m unittest" : "  swift test",
            ]
        for line in lines { StandardOutput.write(line: Printable.line(line)) }
    }

    private func add(_ module: String) throws {
        let folder = path ?? "."
        let files = try NewModule(name: module, folder: folder, level: level, isPython: python, strata: strata).run()
        let answer = Answer(output)
        guard !answer.isForPrograms else {
            return try answer.show(["module": .string(module), "files": .array(files.map { .string($0) })])
        }
        let test = python ? "strata test -- python3 -m unittest test_\(module.lowercased())" : "swift test"
        let lines =
            ["\(module) is added:"] + files.map { "  \($0)" }
            + ["", "  \(python ? "strata up" : "strata up --build")", "  \(test)"]
        for line in lines { StandardOutput.write(line: Printable.line(line)) }
    }
}
