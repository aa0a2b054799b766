/// What a broker without peers must not have any more.
extension Broker {
    /// The names of what is still there; none where every peer's end was a whole
    /// one. For the fuzzer: it asks between two rounds, when nobody is connected.
    package var leftovers: [String] {
        let counts: [(String, Int)] = [
            ("peers", peers.count), ("calls", calls.count), ("held bytes", heldTotal),
            ("own calls", ownCalls.count), ("watches", watches.count), ("monitors", monitors.count),
            ("alarms", alarms.all.count { $0.alarm.peer != 0 }),
            ("connections without hello", pools.known.count + pools.others.count),
            ("ended connections", pools.lingering.count), ("modules' sessions", pools.modules),
            ("leaving sessions", leaving.count), ("reloads", reloads.count),
            ("unwritten peers", dirty.count), ("peers heard out", heardOut.count), ("gone peers", gone.count),
            ("departures", departures.count),
            ("orphans", orphans.count), ("listings", listings.count),
            ("fan-outs", fanOut == nil ? 0 : 1), ("peers that wait for one", awaitingResumption.count),
            ("launchers", launcher == nil ? 0 : 1),
            ("instances", instances.instances.isEmpty ? 0 : 1), ("frames in hand", frameInHand == nil ? 0 : 1),
            ("reloading", askedReloads == nil ? 0 : 1), ("handing over", handOvers.count),
        ]
        return counts.filter { $0.1 != 0 }.map { "\($0.1) \($0.0)" }
    }
}
