import Glibc
import Testing

/// A stand-in for a NATS server. It either wants TLS and then says nothing more, or refuses each client's key.
final class StandInServer {
    let port: UInt16
    private let listener: Int32
    private var connections: [Int32] = []
    private let wantsTLS: Bool
    /// How many clients it has greeted.
    var greeted: Int { connections.count }

    /// - Parameter wantsTLS: whether it wants TLS and then says nothing more; if not, it refuses keys.
    init(wantsTLS: Bool) throws {
        self.wantsTLS = wantsTLS
        (listener, port) = try LoopbackSocket.listen()
    }

    deinit {
        for connection in connections { close(connection) }
        close(listener)
    }

    /// Greets new clients. Refuses the key of each client that has sent something, unless it wants TLS.
    func serve() {
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            connections.append(connection)
            say(
                #"INFO {"server_id":"x","max_payload":1048576,"nonce":"x","tls_required":\#(wantsTLS)}"#, to: connection
            )
        }
        var words = [UInt8](repeating: 0, count: 4096)
        for connection in connections
        where !wantsTLS && recv(connection, &words, words.count, Int32(MSG_DONTWAIT)) > 0 {
            say("-ERR 'Authorization Violation'", to: connection)
        }
    }

    private func say(_ line: String, to connection: Int32) { _ = write(connection, line + "\r\n", line.utf8.count + 2) }
}
