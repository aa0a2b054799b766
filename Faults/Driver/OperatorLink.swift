internal import StrataOperator

/// The driver's own connection to the bus. It reconnects after a loss.
final class OperatorLink {
    private let client: BusClient

    init(_ socket: String) throws { client = BusClient(try Loop(), path: socket) }

    /// Connects without waiting for the answer to hello. A halted broker reads hello, and the
    /// frames after it, only when it continues. It is the driver that lets it continue.
    private func connect() throws {
        if !client.isConnected { try client.connect() }
    }

    /// Sends a call, without waiting.
    /// - Parameter then: gets the answer, or the error that ended the connection.
    func send(
        _ action: String, _ params: JSON? = nil, deadline: UInt64 = 20_000,
        _ then: @escaping (Result<JSON, ClientError>) -> Void
    ) {
        do { try connect() } catch { return then(.failure(.noBus("\(error)"))) }
        client.ask(action, params, deadline: deadline, onAnswer: then)
    }

    /// Takes in what arrives within this many milliseconds.
    func poll(_ milliseconds: UInt64) { client.run(milliseconds) { false } }

    /// Returns the states of all rows; none if the bus doesn't answer within 6 s.
    func states() -> [String: String] {
        var rows: [ModuleRow]?
        send("bus/modules", deadline: 5_000) { rows = [ModuleRow]((try? $0.get()) ?? .null) }
        if !client.run(6_000, until: { rows != nil }) { close() }
        return Dictionary((rows ?? []).map { ($0.name, $0.state) }, uniquingKeysWith: { $1 })
    }

    func close() { client.close() }
}
