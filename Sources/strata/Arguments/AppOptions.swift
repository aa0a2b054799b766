import ArgumentParser

/// The part that `up` and `dev` share: how an app is run.
struct AppOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where to make the bus's socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp(
            "The configuration to build. Default: release if a row's run is in .build/release, else debug.",
            valueName: "configuration"))
    var configuration: PackageBuild.Configuration?

    @Option(
        help: ArgumentHelp("Appends the modules' spans to this file, as lines of OTLP JSON.", valueName: "file"),
        completion: .file())
    var spans: String?

    @Flag(help: "Also shows the app in a browser, as strata web does; prints the page's address.")
    var web = false

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("Launch options, each as key=value.", valueName: "key=value"))
    var options: [String] = []
}
