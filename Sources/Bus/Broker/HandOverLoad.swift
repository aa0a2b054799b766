import StrataCore
import StrataLoop

/// The amount of state that the next program would have to be given. It is counted before anything
/// is written. So a replacement that would keep all peers waiting for long is refused at once.
struct HandOverLoad {
    /// The most bytes that may wait, where bytes that the next program copies count twice: about a
    /// second of work.
    static let mostBytes = 1 << 30
    /// The most open requests, observations, instances, held notices and waiting frames.
    static let mostParts = 250_000
    /// The number of waiting frames that are as much work as one open request.
    static let framesOfAPart = 32
    /// The memory that a replacement must leave free, in bytes.
    static let spared: UInt64 = 64 << 20

    /// The bytes that wait. Those that several connections wait for count once.
    var bytes = 0
    /// The part of `bytes` that is in no payload, so that the next program copies it.
    var copied = 0
    var frames = 0
    /// The number of open requests, observations, instances and held notices.
    var others = 0
    /// The connection with the most waiting bytes, and their number.
    var largest = (name: "", bytes: 0)

    /// Returns why it can't be handed over; nil if it can.
    /// - Parameter room: asked only if much waits.
    func problem(_ room: () -> MemoryRoom) -> String? {
        let whose =
            largest.bytes > 0
            ? "\(Self.mebibytes(largest.bytes)) MiB of them from or for \(largest.name)" : "none in queues"
        if bytes + copied > Self.mostBytes {
            return
                "\(Self.mebibytes(bytes)) MiB wait, \(whose), and at most \(Self.mebibytes(Self.mostBytes)) MiB can "
                + "be handed over; \(Self.mebibytes(copied)) MiB of small bodies count twice: let it read, or "
                + "end it, and try again"
        }
        if others + frames / Self.framesOfAPart > Self.mostParts {
            return
                "\(others) requests, observations, instances, held and retained notices are there and \(frames) frames wait, and at most "
                + "\(Self.mostParts) can be handed over, with \(Self.framesOfAPart) frames counted as one: try "
                + "again when there are fewer"
        }
        // For so few bytes, the free memory needn't be known.
        guard bytes >= 1 << 20 else { return nil }
        let room = room()
        let needed = UInt64(bytes + copied) + Self.spared
        guard room.bytes < needed else { return nil }
        return
            "\(Self.mebibytes(bytes)) MiB wait, \(whose): handing them over takes \(needed >> 20) MiB, and "
            + "\(room.limit) leaves \(room.bytes >> 20) MiB: make room, or let it read, and try again"
    }

    private static func mebibytes(_ bytes: Int) -> Int { (bytes + (1 << 20) - 1) >> 20 }
}

extension Broker {
    /// Counts the load; the cost is a few numbers for each connection.
    var handOverLoad: HandOverLoad {
        var load = HandOverLoad()
        load.copied = bus.calls.heldBytes + bus.retained.textBytes
        load.others = bus.calls.count + bus.instances.count + bus.mailboxes.heldCount + bus.retained.count
        var largest: Peer?
        for peer in bus.connections.all {
            let (frames, bytes) = peer.outbox.waiting
            load.frames += frames
            load.copied += bytes + peer.connection.assembler.keptCount + frames * MemoryLayout<Outbox.Waiting>.stride
            load.others += peer.observations.count + peer.retainedWalks.count
            let own = peer.outbox.pending + peer.connection.assembler.keptCount + peer.heldBytes
            if own > load.largest.bytes || own == load.largest.bytes && peer.number < largest?.number ?? 0 {
                (largest, load.largest.bytes) = (peer, own)
            }
        }
        bus.calls.forEachPurpose { purpose in
            guard case .event(let emission, _) = purpose else { return }
            // Each listener's call refers to the same event.
            load.copied += emission.params.count / max(1, emission.listeners.count)
        }
        load.bytes = bus.reclaimer.payloadBytes + load.copied
        load.largest.name = largest?.displayName ?? ""
        return load
    }
}
