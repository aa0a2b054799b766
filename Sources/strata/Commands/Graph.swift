import ArgumentParser
import StrataManifest
import StrataOperator
import StrataPictures

/// `strata graph`: draws the app as a picture.
struct Graph: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draws levels and modules, and what they send to each other.",
        discussion: """
            EXAMPLE
              strata graph > app.svg
              strata graph app/strata.yaml --svg app.svg --theme dark
              strata graph --describe --svg app.svg    adds what the programs describe
              strata graph --seen 5s --svg app.svg     adds the running bus's traffic
              strata graph --dot | dot -Tpdf > app.pdf
              strata graph --mermaid                   for a page on GitHub

            It shows what the rows declare: calls by `requires`, also through adapters; \
            broadcasts to their observers; reports; URLs that can be opened. The foundation is \
            on top, as in the level table: broadcasts go down, reports go up. With --seen, \
            declared lines without traffic are dashed, and undeclared traffic has its own colour. \
            Rows don't declare which URLs a module opens, so only --seen shows that.

            --describe starts each executable as `strata check` does, for at most 5 s, and \
            draws what it describes as if it stood in its row.
            """)

    @Argument(help: "The manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @Option(
        help: ArgumentHelp("Writes an SVG picture there; - is stdout. The default.", valueName: "file"),
        completion: .file())
    var svg: String?

    @Flag(help: "Prints the graph in Graphviz's language.")
    var dot = false

    @Flag(help: "Prints the graph in Mermaid's language.")
    var mermaid = false

    @Flag(help: "Asks each executable to describe itself, and adds the answers.")
    var describe = false

    @Option(
        help: ArgumentHelp(
            "Watches the running bus for this long (an integer with ms, s, m or h), and adds its traffic.",
            valueName: "time"))
    var seen: Milliseconds?

    @OptionGroup var picture: PictureOption
    @OptionGroup var bus: SocketOption

    func validate() throws {
        guard [svg != nil, dot, mermaid].count(where: { $0 }) <= 1 else {
            throw ValidationError("Use only one of --svg, --dot and --mermaid.")
        }
        if seen?.value == 0 { throw ValidationError("--seen 0 would see nothing: give a time such as 5s.") }
    }

    func run() throws {
        if svg == nil, !dot, !mermaid, StandardOutput.isTerminal {
            throw Failure(
                .usage, "a terminal can't show an SVG picture: use --svg FILE, or --dot or --mermaid for text")
        }
        var graph = try declared()
        if let seen { try watch(for: seen.value, &graph) }
        if dot {
            StandardOutput.write(Array(GraphDOT.text(of: graph).utf8))
        } else if mermaid {
            StandardOutput.write(Array(GraphMermaid.text(of: graph).utf8))
        } else {
            try picture.write(GraphSVG.text(of: graph, theme: picture.theme), to: svg ?? "-")
        }
    }

    /// Returns the graph of what the rows declare, and with `--describe` their programs.
    private func declared() throws(Failure) -> AppGraph {
        var app: DescribedApp
        do throws(ManifestErrors) { app = try DescribedApp(manifest) } catch {
            throw Failure(.usage, error.errors.map(\.description).joined(separator: "\n"), isPlain: true)
        }
        if describe { try app.describe() }
        var graph = AppGraph(app.manifest.completed(by: app.descriptions).table)
        graph.remarks += app.remarks
        return graph
    }

    /// Adds what passes on the bus. Ctrl-C ends it early.
    private func watch(for milliseconds: UInt64, _ graph: inout AppGraph) throws(Failure) {
        let connection = try bus.connect()
        guard connection.welcome.app == graph.app else {
            throw Failure(
                .usage,
                "\(manifest) belongs to the app \(graph.app), and the bus at \(connection.path) to "
                    + "\(connection.welcome.app): give the right manifest, or the right bus with --app or --socket")
        }
        var traffic = SeenTraffic(
            levels: try connection.ask("bus/levels"), interfaces: try connection.interfaces())
        var request = Request.monitor()
        request.onPartial = { body in
            if let frame = try? JSON(parsing: body) { traffic.note(frame) }
        }
        let begun = Loop.nanoseconds
        let end = LoopTimer(connection.client.loop) { connection.client.cancelAll() }
        defer { end.close() }
        end.start(after: milliseconds)
        do throws(Failure) {
            _ = try connection.send(request, "watching the bus")
        } catch {
            guard error.code == .cancelled else { throw error }
        }
        graph.add(traffic, watchedFor: (Loop.nanoseconds - begun) / 1_000_000)
    }
}
