public import ArgumentParser
import Glibc
import StrataCore
import StrataLauncher
import StrataOperator
public import StrataPictures

/// The choice of the bus that a command speaks to.
struct SocketOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The bus's socket. Default: STRATA_SOCKET, or the only one in the default folders, of several that of "
                + "./strata.yaml's app.",
            valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The app whose bus it is, in the default folders, or one of its nodes, as in app@node.", valueName: "name"),
        completion: LiveNames.apps)
    var app: String?

    func validate() throws {
        if socket != nil, app != nil { throw ValidationError("Use only one of --socket and --app.") }
        if let app, !Name.isSocket(app) {
            throw ValidationError(
                "--app takes 1 to 32 of a-z, 0-9 and -, perhaps with a node as in app@node; found "
                    + Printable.line(app))
        }
    }

    /// The choice that the options make.
    var choice: BusChoice { BusChoice(socket: socket, app: app) }

    func connect() throws(Failure) -> CommandClient { try choice.connect() }
}

/// The choice of the bus that a command speaks to, and of the node whose bus answers it.
struct BusOption: ParsableArguments {
    @OptionGroup var socket: SocketOption

    @Option(
        help: ArgumentHelp(
            "The node that is asked, in an app with nodes. Default: the bus's own. Other nodes answer only if the "
                + "manifest says operates: true of the bus's own node.",
            valueName: "name"),
        completion: LiveNames.nodes)
    var node: String?

    func validate() throws {
        if let node, !Name.isNode(node) {
            throw ValidationError(
                "--node takes 1 to 32 of a-z, 0-9 and -, which doesn't begin with - and isn't all; found "
                    + Printable.line(node))
        }
    }

    func connect() throws(Failure) -> CommandClient { try socket.connect().asking(node) }

    /// Connects to the bus whose app has the URL's scheme.
    func connect(opening url: String) throws(Failure) -> CommandClient {
        try socket.choice.connect(opening: url).asking(node)
    }
}

/// Which node of an app with several this machine is.
struct NodeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The node that this machine is, in an app with nodes. Default: STRATA_NODE.", valueName: "name"))
    var node: String?

    var choice: NodeChoice { NodeChoice(given: node) }
}

/// How a command shows its answer.
struct OutputOption: ParsableArguments {
    @Flag(help: "Prints JSON, one value per line. This is the default if the output isn't a terminal.")
    var json = false

    /// Whether a program, not a person, reads the output.
    var isForPrograms: Bool { json || !StandardOutput.isTerminal }
}

/// How a picture looks, and where it goes.
struct PictureOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The picture's colours: auto (as the viewer is set), light or dark.", valueName: "theme"))
    var theme = Theme.auto

    /// Writes a file and replaces an existing one; `-` is stdout.
    func write(_ text: String, to path: String) throws(Failure) {
        guard path != "-" else { return StandardOutput.write(Array(text.utf8)) }
        try FileOutput.write(Array(text.utf8), to: path)
        if StandardOutput.isTerminal { StandardOutput.write(line: "wrote \(Printable.line(path))") }
    }
}

extension Theme: ExpressibleByArgument {}

/// Whether a request begins a trace.
struct TraceOption: ParsableArguments {
    @Flag(help: "Begins a trace, and prints its number to standard error.")
    var trace = false

    /// Gives a request a trace of its own, if `--trace` asks for it.
    func begin(_ request: inout Request) {
        guard trace else { return }
        let trace = Self.hex(.random(in: 1 ... .max)) + Self.hex(.random(in: 0 ... .max))
        // The format of W3C Trace Context: version, trace, span, and the flag that the trace is
        // wanted.
        request.members.append(("trace", "00-\(trace)-\(Self.hex(.random(in: 1 ... .max)))-01"))
        StandardError.write("trace \(trace)")
    }

    private static func hex(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}

/// How long a running command waits for the next broker when the bus is gone.
struct WaitOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long to wait for a lost bus to return: an integer with ms, s, m or h; 0 doesn't wait.",
            valueName: "time"))
    var wait = Milliseconds(argument: "30s")!  // because 30s is a valid time
}
