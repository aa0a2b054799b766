internal import Glibc
import StrataCore
import StrataLoop

/// Accepting connections. The bus decides which one ends if there are too many. What that one has
/// sent is handled first, because its hello may already be in its socket.
extension Broker {
    /// The most bytes that are read of a connection that is about to end: enough for a hello.
    private static let mostLookedAt = 2 * ReadBuffer.turn

    /// Sets how many descriptors this process may have.
    func mayOpen(_ descriptors: Int) { bus.mayOpen(descriptors) }

    /// Why `limits.connections` can't be reached; nil if it can.
    var descriptorProblem: String? { bus.connections.limit.problem(bus.table.limits.connections) }

    func accepted(_ socket: Socket) {
        eventBegins()
        if isShared { listener?.endTurn() }
        guard let connection = admit(socket) else { return socket.close() }
        socket.watch(.readable)
        bus.makeRoom(for: connection, looksRegistered)
        settle()
    }

    /// Refuses a connection for which the process had only its spare descriptor, which it needs
    /// back at once.
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

    /// Handles what a connection has sent so far.
    /// - Returns: whether its hello was answered, or the connection has ended.
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

/// The check that nothing is left when a broker has no peers.
extension Broker {
    /// The names of what is still there; empty if every peer ended completely. For the fuzzer,
    /// which asks between two rounds when no peer is connected.
    package var leftovers: [String] {
        let counts: [(String, Int)] = [
            ("peers", bus.connections.count), ("calls", bus.calls.count), ("held bytes", bus.calls.heldBytes),
            ("own calls", bus.calls.purposeCount), ("watches", bus.watches.watches.count),
            ("monitors", bus.monitors.monitors.count), ("traffic streams", bus.traffic.streams.count),
            ("links", bus.links.links.count),
            ("alarms", bus.alarms.all.count { $0.alarm.peer != 0 }),
            ("connections without hello", bus.connections.pools.known.count + bus.connections.pools.others.count),
            ("ended connections", bus.connections.pools.lingering.count),
            ("modules' sessions", bus.connections.pools.modules), ("draining sessions", bus.modules.draining.count),
            ("unwritten peers", bus.connections.dirty.count), ("closed peers", bus.connections.closed.count),
            ("peers heard out", heardOut.count), ("orphans", bus.calls.orphanCount),
            ("launchers", bus.launcher == nil ? 0 : 1), ("reloads", bus.launcherSlot.reloads.count),
            ("reloading", bus.launcherSlot.askedReloads == nil ? 0 : 1),
            ("handing over", bus.replacement.waiting.count),
            ("instances", bus.instances.count == 0 ? 0 : 1),
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
