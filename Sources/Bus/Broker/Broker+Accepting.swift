internal import Glibc
import StrataCore
import StrataLoop

/// Taking connections. Which of them goes where there are too many the bus says, and
/// what that one has sent by now is handled before: its hello may stand in its socket.
extension Broker {
    /// What is read at most of a connection that is about to go, in bytes: a hello.
    private static let mostLookedAt = 2 * ReadBuffer.turn

    /// How many descriptors this process may have.
    func mayOpen(_ descriptors: Int) { bus.mayOpen(descriptors) }

    /// What keeps `limits.connections` from being met; nil where nothing does.
    var descriptorProblem: String? { bus.connections.limit.problem(bus.table.limits.connections) }

    func accepted(_ socket: Socket) {
        eventBegins()
        if isShared { listener?.endTurn() }
        guard let connection = admit(socket) else { return socket.close() }
        socket.watch(.readable)
        bus.makeRoom(for: connection, looksRegistered)
        settle()
    }

    /// The process had no descriptor for it, but for one that is wanted back at once.
    func refused(_ socket: Socket) {
        eventBegins()
        guard let connection = admit(socket) else { return }
        bus.refuseWithoutDescriptor(connection)
        settle()
        close(connection, reason: "")
        settle()
    }

    private func admit(_ socket: Socket) -> Connection? {
        guard bus.stage != .stopped, let credentials = try? socket.credentials() else { return nil }
        let connection = Connection(
            number: bus.connections.next, socket: socket, credentials: credentials, limits: bus.helloLimits,
            pool: bus.pool)
        attend(connection)
        bus.connected(connection)
        return connection
    }

    /// Handles what a connection has sent by now.
    /// - Returns: whether it is none any more that waits for hello's answer.
    private func looksRegistered(_ peer: Peer) -> Bool {
        var left = Self.mostLookedAt
        while peer.life == .greeting, left > 0 {
            let count = read(peer.connection)
            guard count > 0 else { break }
            left -= count
        }
        return peer.life != .greeting && peer.life != .waitingForVouch
    }
}

/// What a broker without peers must not have any more.
extension Broker {
    /// The names of what is still there; none where every peer's end was a whole
    /// one. For the fuzzer: it asks between two rounds, when nobody is connected.
    package var leftovers: [String] {
        let counts: [(String, Int)] = [
            ("peers", bus.connections.count), ("calls", bus.calls.count), ("held bytes", bus.calls.heldBytes),
            ("own calls", bus.calls.purposes.count), ("watches", bus.watches.watches.count),
            ("monitors", bus.monitors.monitors.count), ("alarms", bus.alarms.all.count { $0.alarm.peer != 0 }),
            ("connections without hello", bus.connections.pools.known.count + bus.connections.pools.others.count),
            ("ended connections", bus.connections.pools.lingering.count),
            ("modules' sessions", bus.connections.pools.modules), ("draining sessions", bus.modules.draining.count),
            ("unwritten peers", bus.connections.dirty.count), ("closed peers", bus.connections.closed.count),
            ("peers heard out", heardOut.count), ("orphans", bus.calls.orphanCount),
            ("launchers", bus.launcher == nil ? 0 : 1), ("reloads", bus.launcherSlot.reloads.count),
            ("reloading", bus.launcherSlot.askedReloads == nil ? 0 : 1), ("handing over", bus.replacement.waiting.count),
            ("instances", bus.instances.instances.isEmpty ? 0 : 1),
            ("frames in hand", bus.monitors.hand == nil ? 0 : 1),
        ]
        return (counts + bus.work.counts).filter { $0.1 != 0 }.map { "\($0.1) \($0.0)" }
    }
}

extension Broker {
    /// The user that this process runs as.
    public static var processUser: UInt32 { geteuid() }

    var processID: Int32 { getpid() }
}

enum FileRemoval {
    static func remove(_ path: String) { unlink(path) }
}
