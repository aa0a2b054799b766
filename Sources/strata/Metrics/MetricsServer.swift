import Glibc
import StrataCore

/// Serves `GET /metrics`, until it is interrupted.
final class MetricsServer {
    /// Connections at once. Where one more comes, the oldest idle one goes; it is refused
    /// where all wait for metrics.
    static let mostConnections = 16
    /// Refused ones that haven't closed yet; where one more comes, the oldest is closed.
    static let mostRefused = 16

    private let loop: Loop
    private let reader: BusReader
    private var listener: Listener?
    private var address: ListenAddress?
    private var connections: [HTTPConnection] = []
    private var refused: [HTTPConnection] = []
    /// Those that wait for the look that is being taken.
    private var waiting: [HTTPConnection] = []
    private var signals: [SignalWatcher] = []

    /// - Parameter path: the bus's socket.
    init(_ loop: Loop, bus path: String) {
        self.loop = loop
        reader = BusReader(loop, path: path)
    }

    /// - Parameter onStart: gets how to reach it.
    func run(_ address: ListenAddress, onStart: (String) -> Void) throws(Failure) {
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
        end()
    }

    private func end() {
        listener?.close()
        reader.close()
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

    /// One look serves all that asked meanwhile.
    private func requested(_ connection: HTTPConnection) {
        waiting.append(connection)
        guard !reader.isReading else { return }
        reader.read { [unowned self] snapshot in
            let text = OpenMetrics.text(snapshot?.families ?? BusSnapshot.absent)
            let asked = waiting
            waiting = []
            for connection in asked { connection.answer(.init(metrics: text)) }
        }
    }
}
