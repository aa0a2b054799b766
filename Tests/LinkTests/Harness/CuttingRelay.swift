import Glibc
import Testing

/// Passes bytes between clients and a server, until it is told to cut the server's next bytes short.
final class CuttingRelay {
    let port: UInt16
    private let server: UInt16
    private let listener: Int32
    private var pairs: [Pair] = []
    /// Whether the server's next bytes to the newest client lose their last one, and all after them.
    var cuts = false

    /// Bytes on their way from one socket to another.
    private struct Way {
        let from: Int32
        let to: Int32
        var pending: [UInt8] = []

        /// Passes on what has come, as far as the receiver takes it.
        /// - Parameter isCut: whether the last byte of what comes is kept back.
        /// - Returns: whether something came.
        mutating func pass(isCut: Bool) -> Bool {
            var came = false
            if pending.isEmpty {
                var bytes = [UInt8](repeating: 0, count: 64 << 10)
                let count = recv(from, &bytes, bytes.count, Int32(MSG_DONTWAIT))
                if count == 0 { shutdown(to, Int32(SHUT_WR)) }
                came = count > 1
                if count > 0 { pending = Array(bytes[..<(isCut && came ? count - 1 : count)]) }
            }
            guard !pending.isEmpty else { return came }
            let sent = send(to, pending, pending.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            if sent > 0 { pending.removeFirst(sent) }
            return came
        }
    }

    private struct Pair {
        let client: Int32
        let server: Int32
        var up: Way
        var down: Way
        var isCut = false
    }

    /// How many clients have connected.
    var count: Int { pairs.count }
    /// Whether a client's bytes were cut.
    var hasCut: Bool { pairs.contains(where: \.isCut) }

    /// - Parameter server: the server's port on this machine.
    init(to server: UInt16) throws {
        self.server = server
        (listener, port) = try LoopbackSocket.listen()
    }

    deinit {
        for pair in pairs {
            close(pair.client)
            close(pair.server)
        }
        close(listener)
    }

    /// Passes on what has come.
    func serve() throws {
        while case let client = accept(listener, nil, nil), client >= 0 {
            let server = try LoopbackSocket.connect(to: server)
            pairs.append(
                Pair(
                    client: client, server: server, up: Way(from: client, to: server),
                    down: Way(from: server, to: client)))
        }
        for place in pairs.indices {
            _ = pairs[place].up.pass(isCut: false)
            // Behind the cut only what was before it goes on.
            guard !pairs[place].isCut || !pairs[place].down.pending.isEmpty else { continue }
            let cutsNow = cuts && place == pairs.count - 1 && pairs[place].down.pending.isEmpty
            if pairs[place].down.pass(isCut: cutsNow), cutsNow {
                pairs[place].isCut = true
                cuts = false
            }
        }
    }
}
