internal import Launch

/// A bus that runs until `end`, or until this is gone.
final class Bus {
    let address: Address
    private let process: Child
    /// The id of the process that moves the messages; dbus-broker's is started by another.
    private(set) var mover: Int32 = 0

    /// Starts it, and waits until it takes connections.
    init(_ contender: Contender, cpu: Int?, in places: Places) throws {
        let socket = places.scratch(contender.clientName + ".sock")
        Files.remove(socket)
        switch contender {
        case .floor:
            address = .path(socket)
            process = try Child([places.program("bench-floor"), socket], cpu: cpu)
        case .strata, .c, .bytes, .async, .typed:
            address = .path(socket)
            process = try Child(
                [places.broker, "--table", "3", "--socket", socket], cpu: cpu,
                descriptor: try BrokerTable.descriptor())
        case .dbus:
            address = .path(socket)
            process = try Child([places.program("bench-client"), "dbus", "serve", socket], cpu: cpu)
            mover = try process.line().split(separator: " ").last.flatMap { Int32($0) } ?? process.id
        case .nats:
            let port = Int(launch_free_port())
            address = .port(port)
            process = try Child(
                [Files.program("nats-server") ?? "nats-server", "--addr", "127.0.0.1", "--port", "\(port)"],
                cpu: cpu, silent: true)
        }
        if mover == 0 { mover = process.id }
        try process.listens(at: address)
    }

    func end() { process.end() }
}
