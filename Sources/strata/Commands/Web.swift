import ArgumentParser
import StrataCore
import StrataManifest
import StrataOperator

/// `strata web`: shows a running app in a browser. It becomes the program `strata-web`.
struct Web: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows a running app in a browser.",
        discussion: """
            It prints the page's address, which has a token: whoever has the token sees what an operator \
            sees. The server is for this machine alone, and only shows, unless you say otherwise. It ends \
            with ctrl-C, and outlives the broker.

            These options go to the program strata-web, which is in the package strata-web; scripts/web builds it:
              --listen PLACE      a port, an address and a port, or a socket's path with a slash
              --listen-anywhere   allows an address that other machines can reach
              --host NAME         a further name that browsers may ask for, as behind a proxy
              --control           lets the page call actions, and start, stop and restart modules
              --bodies            shows the bodies of messages
              --spans FILE --otlp URL
                                  pushes the spans of strata up --spans FILE to a collector

            EXAMPLE
              strata web
              strata web --app catalog --control
              strata web --listen /run/user/1000/web.sock     for ssh -L 8080:/run/user/1000/web.sock
            """)

    @Option(
        help: ArgumentHelp(
            "The app's manifest, for the picture and for \"why not?\". Default: strata.yaml here, if it is the app's.",
            valueName: "path"),
        completion: .file(extensions: ["yaml", "yml"]))
    var manifest: String?

    @OptionGroup var bus: SocketOption

    @Argument(parsing: .allUnrecognized, help: ArgumentHelp("Options of strata-web.", valueName: "option"))
    var options: [String] = []

    func run() throws {
        let path = try bus.choice.path()
        let manifest = manifest ?? Self.manifest(ofBusAt: path)
        try WebProgram.become(["--socket", path] + (manifest.map { ["--manifest", $0] } ?? []) + options)
    }

    /// Returns the manifest in this folder if it belongs to the app on that bus.
    private static func manifest(ofBusAt path: String) -> String? {
        let here = "strata.yaml"
        guard let app = Manifest.app(path: here), let connection = try? CommandClient(path: path, patience: 2_000)
        else {
            return nil
        }
        defer { connection.client.close() }
        return connection.welcome.app == app ? here : nil
    }
}
