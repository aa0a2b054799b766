/// What a broker without peers must not have any more.
extension Broker {
    /// The names of what is still there; none where every peer's end was a whole
    /// one. For the fuzzer: it asks between two rounds, when nobody is connected.
    package var leftovers: [String] {
        let counts: [(String, Int)] = [
            ("peers", bus.peers.count), ("calls", bus.calls.count), ("held bytes", bus.heldTotal),
            ("own calls", bus.ownCalls.count), ("watches", bus.watches.count), ("monitors", bus.monitors.count),
            ("alarms", bus.alarms.all.count { $0.alarm.peer != 0 }),
            ("connections without hello", bus.pools.known.count + bus.pools.others.count),
            ("ended connections", bus.pools.lingering.count), ("modules' sessions", bus.pools.modules),
            ("leaving sessions", bus.leaving.count), ("reloads", bus.reloads.count),
            ("unwritten peers", bus.dirty.count), ("peers heard out", heardOut.count), ("gone peers", bus.gone.count),
            ("departures", bus.departures.count),
            ("orphans", bus.orphans.count), ("listings", bus.listings.count),
            ("fan-outs", bus.fanOut == nil ? 0 : 1), ("peers that wait for one", bus.awaitingResumption.count),
            ("launchers", bus.launcher == nil ? 0 : 1),
            ("instances", bus.instances.instances.isEmpty ? 0 : 1), ("frames in hand", bus.frameInHand == nil ? 0 : 1),
            ("reloading", bus.askedReloads == nil ? 0 : 1), ("handing over", bus.handOvers.count),
        ]
        return counts.filter { $0.1 != 0 }.map { "\($0.1) \($0.0)" }
    }
}
