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
            ("modules' sessions", bus.connections.pools.modules), ("leaving sessions", bus.modules.leaving.count),
            ("unwritten peers", bus.connections.dirty.count), ("gone peers", bus.connections.gone.count),
            ("peers heard out", heardOut.count), ("orphans", bus.calls.orphanCount),
            ("launchers", bus.launcher == nil ? 0 : 1), ("reloads", bus.seat.reloads.count),
            ("reloading", bus.seat.askedReloads == nil ? 0 : 1), ("handing over", bus.replacement.waiting.count),
            ("instances", bus.instances.instances.isEmpty ? 0 : 1),
            ("frames in hand", bus.monitors.hand == nil ? 0 : 1),
        ]
        return (counts + bus.work.counts).filter { $0.1 != 0 }.map { "\($0.1) \($0.0)" }
    }
}
