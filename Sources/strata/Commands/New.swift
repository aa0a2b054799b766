import ArgumentParser
import StrataCore

/// `strata new`: makes a package with a contract, two modules and their tests.
struct New: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a package: a contract, two modules, a test and a manifest.",
        discussion: """
            EXAMPLE
              strata new greetings
              strata new shop --modules Stock Front
              strata new shop --path ~/apps/shop --strata ../strata

            The first module provides an interface, the second one calls it. The package can be \
            run (`strata up --build`) and tested (`swift test`) as it is. It depends on the package \
            of strata that this program was built from, or on the one that --strata names.
            """)

    @Argument(
        help: "The name of the app and the package: 1 to 32 of a-z, 0-9 and -, a letter first. MyApp becomes my-app.")
    var name: String

    @Option(
        help: ArgumentHelp("The folder to make. Default: the app's name, in the current folder.", valueName: "folder"),
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

    func run() throws {
        let names = try PackageNames(app: name, modules: modules.isEmpty ? ["Greeter", "Visitor"] : modules)
        let dependency = try StrataDependency(strata)
        try dependency.checkApart(from: names.app)
        let folder = path ?? names.app
        let files = PackageTemplate(names, dependency).files
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
        let lines =
            ["\(folder) has:"] + files.map { "  \($0.path)" }
            + [
                "", "It depends on \(dependency.description).", "", "  cd \(ShellWord.quoted(folder))",
                "  strata up --build    then, in another terminal:",
                "  strata call \(names.caller)/visit '{\"who\": \"Ada\"}'",
                "  swift test",
            ]
        for line in lines { StandardOutput.write(line: Printable.line(line)) }
    }
}
