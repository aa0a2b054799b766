import ArgumentParser
import StrataOperator

/// `strata call`: calls an action, or lists the actions of an interface.
struct CallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Calls an action, and prints its answer.",
        discussion: """
            EXAMPLE
              strata call Catalog/list '{"limit": 3}'
              strata call Catalog/list limit=3      the same; texts need no quotes
              strata call Catalog                   lists its actions
              strata call Notes/add - < note.json
              strata call Feed/follow --timeout 0   an endless stream
              strata call Sensor/set -- -5          params that begin with -
              strata call Notes/sync --trace        begins a trace, and prints it

            Params are JSON, or members as KEY=VALUE, where a value that is no JSON is a text. If the module that \
            provides the interface describes its types, the params are checked before they are sent, and completed \
            by the shell; --unchecked sends them as they are.

            Each partial reply of a stream is printed on its own line. The end of a stream and \
            an empty answer print nothing. Ctrl-C cancels the call.
            """)

    @Argument(
        help: ArgumentHelp("What to call; an interface alone lists its actions.", valueName: "interface/action"),
        completion: LiveNames.actions)
    var destination: String

    @Argument(
        help: ArgumentHelp(
            "The params, as JSON or as several KEY=VALUE; - reads them from stdin. Default: null.", valueName: "params"),
        completion: LiveNames.params)
    var params: [String] = []

    @Flag(help: "Sends the params without checking them.")
    var unchecked = false

    @Option(
        help: ArgumentHelp(
            "With replicas: calls with the same key go to the same one. Interface~2/action names one.",
            valueName: "key"))
    var key: String?

    @OptionGroup var timeout: TimeoutOption
    @OptionGroup var trace: TraceOption
    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        let answer = Answer(output)
        guard destination.contains("/") else {
            let connection = try bus.connect()
            let actions = try InterfaceActions(of: destination, connection)
            guard params.isEmpty else {
                throw Failure(.usage, "\(destination) names no action; write \(destination)/action to send params")
            }
            return try actions.show(answer, ContractSource.contract(of: actions.interface, connection))
        }
        var request = Request(to: destination, body: try Params.read(params))
        request.limit(timeout)
        if let key { request.members.append(("key", key)) }
        trace.begin(&request)
        let connection = try bus.connect()
        if !unchecked { try ParamsCheck(destination, connection)?.check(request.body) }
        do {
            try answer.showReplies(to: request, connection)
        } catch {
            throw InterfaceActions.suggesting(for: destination, error, connection)
        }
    }
}

extension Request {
    /// The bus's own streams, to which it sets no deadline.
    private static let endless = ["bus/watch", "bus/monitor", "bus/traffic"]

    /// Sets the deadline that the option gives; for a stream, it limits each reply. Only streams
    /// may have no deadline, and a stream needs credit for its partial replies.
    mutating func limit(_ option: TimeoutOption) {
        deadline = option.timeout?.value
        if deadline == 0 { credit = 16 }
        guard Self.endless.contains(to) else { return }
        isEndless = true
        if let deadline, deadline > 0 { patience = deadline }
    }
}

extension Answer {
    /// Sends a request and shows each reply. Skips an empty answer, and the null that ends a
    /// stream. No runtime sends a value there, and a program that reads lines would take it for
    /// an element.
    func showReplies(to request: Request, _ connection: CommandClient) throws(Failure) {
        var request = request
        var isStream = false
        var failure: Failure?
        request.onPartial = { body in
            isStream = true
            do throws(Failure) { try show(body) } catch { failure = failure ?? error }
        }
        let body: [UInt8]
        do throws(Failure) { body = try connection.send(request, "waiting for \(request.to)") } catch {
            guard isStream, error.code == .deadlineExceeded else { throw error }
            throw Failure(quietFor: request.deadline ?? Request.standardDeadline)
        }
        if let failure { throw failure }
        if body.isEmpty || (isStream && body == Array("null".utf8)) { return }
        try show(body)
    }
}

/// `strata open`: opens a URL on the bus that has its scheme.
struct Open: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Opens a URL, and prints the action's answer.",
        discussion: """
            EXAMPLE
              strata open 'catalog://item/bash'

            If several buses run, it uses the one that has the URL's scheme.
            """)

    @Argument(
        help: "The URL; quote it if the shell would interpret a part of it.", completion: LiveNames.urls)
    var url: String

    @OptionGroup var timeout: TimeoutOption
    @OptionGroup var trace: TraceOption
    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        var request = Request(.open, to: url)
        request.limit(timeout)
        trace.begin(&request)
        try Answer(output).showReplies(to: request, bus.connect(opening: url))
    }
}
