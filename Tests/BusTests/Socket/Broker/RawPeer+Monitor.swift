import StrataCore
import StrataTesting

/// A tool with monitors.
extension RawPeer {
    /// Opens a monitor, and returns its number.
    func monitor(_ params: JSON = [:], credit: Int64 = 1_000) throws -> UInt64 {
        try call("bus/monitor", params, ["credit": .integer(credit)])
    }

    /// Returns everything that this tool was sent until now, including the frames of its monitors.
    ///
    /// Monitors get frames later than others, but in order. So once a monitor that was opened
    /// last has its first frame, the other monitors have all earlier frames.
    func drainWithMonitors() throws -> [ReceivedFrame] {
        let last = try monitor(["name": "test.last"], credit: 1)
        var frames: [ReceivedFrame] = []
        repeat {
            // The broadcast is missed if the ring is full.
            try broadcast("test.last", nil, ["level": "basic"])
            frames += try drain()
        } while !frames.contains { $0.isPartial && $0.id == last }
        frames.removeAll { $0.id == last }
        try cancel(last)
        try expectError(to: last, "cancelled")
        return frames + (try drain())
    }

    /// Returns the frames that one of its monitors got until now, without this tool's own.
    func notes(of monitor: UInt64) throws -> [JSON] {
        try drainWithMonitors().filter { $0.isPartial && $0.id == monitor }.map(\.json).filter {
            $0["from"]?.string != "operator" && $0["to"]?.string != "operator"
        }
    }
}
