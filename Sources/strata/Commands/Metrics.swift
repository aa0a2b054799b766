import ArgumentParser
import StrataCore
import StrataLoop
import StrataOperator
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

            With --listen it answers GET /metrics until ctrl-C. While the bus is away, strata_up \
            is 0. A port without a host can be reached from this machine only. The modules' own \
            metrics are included, except those that they give to another exporter; a module has \
            1 s to answer.
            """)

    @Option(
        help: ArgumentHelp(
            "Serves the metrics over HTTP, at a port, an address and a port, or a socket's path with a slash.",
            valueName: "[host:]port|path"))
    var listen: ListenAddress?

    @Flag(help: "Prints JSON, one sample per line.")
    var json = false

    @OptionGroup var bus: BusOption

    func validate() throws {
        if json, listen != nil { throw ValidationError("--json and --listen can't be combined.") }
    }

    func run() throws {
        if let listen { return try serve(on: listen) }
        let families = try bus.connect().look(measuring: true).families
        if json {
            for sample in OpenMetrics.json(families) { StandardOutput.write(line: sample.encoded()) }
        } else {
            StandardOutput.write(Array(OpenMetrics.text(families).utf8))
        }
    }

    private func serve(on address: ListenAddress) throws {
        let path = try bus.socket.choice.path()
        let loop: Loop
        do throws(SystemError) { loop = try Loop() } catch { throw Failure(.usage, "\(error)") }
        let server = MetricsServer(loop, bus: path, node: bus.node)
        try server.run(address) { StandardOutput.write(line: $0) }
    }
}
