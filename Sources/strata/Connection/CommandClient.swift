import Glibc
import StrataCore
import StrataLoop
import StrataOperator

/// A command's client. While it waits, a line on the terminal shows for what. Ctrl-C cancels the
/// waiting, and a second ctrl-C ends the process.
final class CommandClient {
    let client: BusClient

    /// Connects and says hello.
    /// - Parameter patience: how long the bus may take to answer, in milliseconds.
    /// - Throws: `noBus` if nothing accepts the connection or speaks the protocol, `answer` if
    ///   the bus refuses this user.
    init(path: String, patience: UInt64 = BusClient.patience) throws(Failure) {
        do throws(SystemError) {
            client = BusClient(try Loop(), path: path, runtime: "strata \(RootCommand.version)")
        } catch {
            throw Failure(.noBus, "the bus can't be reached: \(error)")
        }
        try open(within: patience)
    }

    /// Connects and says hello. Replaces a connection that exists.
    func open(within patience: UInt64) throws(Failure) {
        try waiting("waiting for the bus at \(path)") { _ throws(ClientError) in try client.open(within: patience) }
    }

    /// The path of the socket.
    var path: String { client.path }
    /// The bus's answer to hello.
    var welcome: Welcome { client.welcome! }  // because `init` waits for it

    /// Makes a node's bus answer all further requests; nil is the own one.
    func asking(_ node: String?) throws(Failure) -> CommandClient {
        if node != nil, !welcome.features.contains(BrokerFeature.node) {
            throw Failure(
                .usage,
                "--node is for apps with nodes: \(Printable.line(welcome.app)) runs on one machine, or its broker is "
                    + "older than this command")
        }
        client.node = node
        return self
    }

    /// Does the same for what `ask` sends.
    func asking<Value>(_ node: String?, _ ask: () throws(Failure) -> Value) throws(Failure) -> Value {
        let former = client.node
        client.node = node
        defer { client.node = former }
        return try ask()
    }

    /// Returns the app's nodes, as its own bus reports them.
    func nodes(patience: UInt64? = nil) throws(Failure) -> [NodeRow] {
        try asking(nil) { () throws(Failure) in
            [NodeRow](try ask("bus/nodes", patience: patience))
        }
    }

    /// Sends a request and waits for its final answer.
    /// - Parameters:
    ///   - activity: what is waited for, such as `starting Storage`.
    ///   - onTaken: called when the bus has taken a request that continues, such as a monitor's.
    /// - Throws: `answer` for an error, `noBus` if the connection ended.
    func send(
        _ request: Request, _ activity: String? = nil, onTaken: (() -> Void)? = nil
    ) throws(Failure) -> [UInt8] {
        try waiting(activity) { progress throws(ClientError) in
            var shown = request
            shown.onPartial = { body in
                progress?.end()
                request.onPartial(body)
            }
            return try client.send(shown, onTaken: onTaken)
        }
    }

    /// Asks the bus itself or its launcher, and reads the answer.
    /// - Parameters:
    ///   - to: the action, such as `bus/modules`.
    ///   - patience: how long the answer may take, in milliseconds; nil allows the bus's own
    ///     time, and a little more.
    func ask(_ to: String, _ params: JSON? = nil, patience: UInt64? = nil) throws(Failure) -> JSON {
        try waiting("waiting for \(to)") { _ throws(ClientError) in try client.ask(to, params, within: patience) }
    }

    /// Asks for the state of the bus and its modules; see `BusClient.look`.
    func look(measuring: Bool = false) throws(Failure) -> BusSnapshot {
        let activity = "waiting for the \(measuring ? "modules' metrics" : "bus's figures")"
        return try waiting(activity) { _ throws(ClientError) in try client.look(measuring: measuring) }
    }

    /// Returns the modules, as the bus reports them.
    func modules(patience: UInt64? = nil) throws(Failure) -> [ModuleRow] {
        [ModuleRow](try ask("bus/modules", patience: patience))
    }

    /// Returns the interfaces, as the bus reports them.
    func interfaces(patience: UInt64? = nil) throws(Failure) -> [InterfaceRow] {
        [InterfaceRow](try ask("bus/interfaces", patience: patience))
    }

    /// Lets time pass.
    /// - Returns: false if ctrl-C ended the pause.
    func pause(milliseconds: UInt64) -> Bool {
        var isInterrupted = false
        let interrupts = try? SignalWatcher(client.loop, signal: SIGINT) { isInterrupted = true }
        defer { interrupts?.close() }
        return !client.run(milliseconds) { isInterrupted }
    }

    /// Shows on a terminal what is waited for, until the progress ends.
    func showProgress(_ activity: String) -> Progress { Progress(client.loop, activity) }

    @discardableResult
    private func waiting<Value>(
        _ activity: String?, _ wait: (Progress?) throws(ClientError) -> Value
    ) throws(Failure) -> Value {
        let progress = activity.map(showProgress)
        defer { progress?.end() }
        var isCancelled = false
        let interrupts = try? SignalWatcher(client.loop, signal: SIGINT) { [client] in
            if isCancelled { exit(128 + SIGINT) }
            isCancelled = true
            client.cancelAll()
        }
        defer { interrupts?.close() }
        do throws(ClientError) { return try wait(progress) } catch { throw Failure(error) }
    }
}
