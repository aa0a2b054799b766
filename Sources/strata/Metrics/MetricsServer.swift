import Glibc
import StrataCore
import StrataLoop
import StrataOperator

/// Serves `GET /metrics` until it is interrupted.
final class MetricsServer {
    /// The most connections at a time. When another one comes, the oldest idle one is closed. If
    /// all of them wait for metrics, the new one is refused.
    static let mostConnections = 16
    /// The most refused connections that haven't closed yet. When another one comes, the oldest
    /// is closed.
    static let mostRefused = 16

    /// The milliseconds that a bus may take.
    private static let patience: UInt64 = 2_000

    private let loop: Loop
    private let client: BusClient
    private var timer: LoopTimer?
    private var listener: Listener?
    private var address: ListenAddress?
    private var connections: [HTTPConnection] = []
    private var refused: [HTTPConnection] = []
    /// The connections that wait for the current look at the bus.
    private var waiting: [HTTPConnection] = []
    private var signals: [SignalWatcher] = []

    /// - Parameters:
    ///   - path: the path of the bus's socket.
    ///   - node: the node that is asked; nil is the bus's own.
    init(_ loop: Loop, bus path: String, node: String?) {
        self.loop = loop
        client = BusClient(loop, path: path, runtime: "strata \(RootCommand.version)")
        client.node = node
        // Closing the client fails the open look, so the waiting requests get their answer.
        timer = LoopTimer(loop) { [client] in client.close() }
    }

    /// - Parameter onStart: gets the address at which the server can be reached.
    func run(_ address: ListenAddress, onStart: (String) -> Void) throws(Failure) {
        defer { end() }
        self.address = address
        let (listener, name) = try address.listen(loop) { [unowned self] in accept($0) }
        self.listener = listener
        for number in [SIGINT, SIGTERM] {
            if let watcher = try? SignalWatcher(loop, signal: number, onSignal: { [loop] in loop.stop() }) {
                signals.append(watcher)
            }
        }
        onStart(name)
        loop.run()
    }

    private func end() {
        listener?.close()
        client.close()
        timer?.close()
        for connection in connections + refused { connection.close() }
        for watcher in signals { watcher.close() }
        loop.runOnce()
    }

    private func accept(_ socket: Socket) {
        loop.updateTime()
        let connection = HTTPConnection(
            loop, socket, isMeant: { [unowned self] in address?.isMeant(by: $0) ?? false },
            onRequest: { [unowned self] in requested($0) }, onEnd: { [unowned self] in ended($0) })
        if connections.count == Self.mostConnections { connections.first { $0.isIdle() }?.close() }
        if connections.count < Self.mostConnections {
            connections.append(connection)
            return
        }
        if refused.count == Self.mostRefused { refused[0].close() }
        refused.append(connection)
        connection.refuse()
    }

    private func ended(_ ended: HTTPConnection) {
        connections.removeAll { $0 === ended }
        refused.removeAll { $0 === ended }
        waiting.removeAll { $0 === ended }
    }

    /// Looks at the bus for a request. Requests that come in the meantime share the look. Each
    /// look connects anew, so it finds a bus that was away before.
    private func requested(_ connection: HTTPConnection) {
        waiting.append(connection)
        guard !client.isConnected else { return }
        loop.updateTime()
        timer?.start(after: Self.patience)
        do throws(SystemError) {
            try client.connect { [unowned self] answer in
                guard case .success = answer else { return looked(nil) }
                client.look(measuring: true) { [unowned self] in looked(try? $0.get()) }
            }
        } catch {
            looked(nil)
        }
    }

    private func looked(_ snapshot: BusSnapshot?) {
        timer?.stop()
        client.close()
        let text = OpenMetrics.text(snapshot?.families ?? BusSnapshot.absent)
        let asked = waiting
        waiting = []
        for connection in asked { connection.answer(.init(metrics: text)) }
    }
}
