import ArgumentParser
import StrataCore
import StrataOperator

/// `strata metrics`: exports what the broker and the launcher know, and what modules measure, for
/// Prometheus and similar tools.
struct Metrics: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints metrics of the bus and its modules as OpenMetrics text, or serves them.",
        discussion: """
            EXAMPLE
              strata metrics
              strata metrics --json | jq 'select(.name == "strata_module_memory_bytes")'
              strata metrics --listen 9464           then: curl http://127.0.0.1:9464/metrics
              strata metrics --listen /run/app/metrics.sock

            With --listen the program strata-web answers GET /metrics and /healthz until ctrl-C; it is \
            in the package of that name, and scripts/web builds it. While the bus is away, strata_up is 0. A port without a host can \
            be reached from this machine only. The modules' own metrics are included, except those \
            that they give to another exporter; a module has 1 s to answer.
            """)

    @Option(
        help: ArgumentHelp(
            "Serves the metrics over HTTP, at a port, an address and a port, or a socket's path with a slash.",
            valueName: "[host:]port|path"))
    var listen: String?

    @Flag(help: "Prints JSON, one sample per line.")
    var json = false

    @OptionGroup var bus: BusOption

    func validate() throws {
        if json, listen != nil { throw ValidationError("--json and --listen can't be combined.") }
    }

    func run() throws {
        if let listen { return try serve(at: listen) }
        let families = try bus.connect().look(measuring: true).families
        if json {
            for sample in OpenMetrics.json(families) { StandardOutput.write(line: sample.encoded()) }
        } else {
            StandardOutput.write(Array(OpenMetrics.text(families).utf8))
        }
    }

    /// The program `strata-web` serves, because it has what that takes.
    private func serve(at place: String) throws(Failure) {
        let path = try bus.socket.choice.path()
        try WebProgram.become(
            ["metrics", "--socket", path, "--listen", place] + (bus.node.map { ["--node", $0] } ?? []))
    }
}
