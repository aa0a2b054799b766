import StrataCore
import StrataLoop

/// Connecting to other apps' brokers, for the bus.
extension Broker {
    func connect(to app: OtherApp) throws(BusError) -> Peer {
        let user = app.user ?? bus.user
        var problems: [String] = []
        let paths = OtherAppSocket.paths(
            app.place, user: user, own: bus.user, runtimeFolder: SocketPath.runtimeFolder)
        for path in paths {
            do throws(OtherAppSocket.Problem) {
                let isShared = if case .name = app.place { user != bus.user } else { false }
                let socket = try OtherAppSocket(path, user: user, isShared: isShared, own: listener?.path)
                let found = try socket.connect()
                return try attend(found.descriptor, found.listener)
            } catch {
                problems.append("\(path): \(error.message)")
            }
        }
        throw BusError(
            .unavailable,
            "\(app.text) of user \(user) can't be reached (\(problems.joined(separator: "; "))): start it, or see where "
                + "it listens with strata ps there")
    }

    private func attend(
        _ descriptor: Int32, _ listener: PeerCredentials
    ) throws(OtherAppSocket.Problem) -> Connection {
        let socket: Socket
        do throws(SystemError) { socket = try Socket(loop, descriptor: descriptor) } catch {
            throw OtherAppSocket.Problem("\(error)")
        }
        let connection = Connection(
            number: bus.connections.next, socket: socket, credentials: listener, limits: bus.helloLimits,
            pool: bus.pool)
        attend(connection)
        socket.watch(.readable)
        return connection
    }
}
