import StrataCore

/// Judges rows with replicas: the replica that has a key gets its requests, and of an observation that
/// replicas share each broadcast goes to one.
extension Referee {
    /// What the referee knows of the row with replicas.
    struct Replicas {
        /// The sessions that have got a request with a key, by the key.
        fileprivate var holders: [Int: [Int]] = [:]
        /// The broadcasts that a replica has got for a shared observation.
        fileprivate var taken: Set<Taken> = []
        fileprivate struct Taken: Hashable {
            let name: Int
            let object: Int?
            let request: Int
        }
    }

    /// Checks that a request with a key came to the session that has the key. No other one that serves
    /// has had it.
    func checkKey(of request: SimulatedRequest, at session: SimulatedSession) {
        guard request.key > 0, app.hasReplicas(session.place) else { return }
        let former = replicas.holders[request.key] ?? []
        if !former.contains(session.number) { replicas.holders[request.key] = former + [session.number] }
        guard holdsKeys(session) else { return }
        for other in former where other != session.number && holdsKeys(sessions[other]) {
            expect(
                false, .key,
                "\(name(request)) with the key \(request.key) came to \(session.name), and \(sessions[other].name) has the key"
            )
        }
    }

    /// Whether a session has had its keys from its first request on. One that others have taken over
    /// from has given them away, and a replica that was retired, or that a table had no more.
    private func holdsKeys(_ session: SimulatedSession) -> Bool {
        session.connection?.hasSession == true && session.life.replacedBy < 0 && !session.life.isRetired
    }

    /// Checks that no replica took requests all the time, if the bus says that none is there.
    func judgeUnavailable(_ frame: SimulatedFrame, _ request: SimulatedRequest) {
        switch request.target {
        case .action(let owner, _), .url(let owner, _), .report(let owner):
            guard app.hasReplicas(owner), !frame.text.contains("quarantined") else { return }
        default: return
        }
        // One that the bus tears down gets no further requests, and may not have read of it yet.
        let ready = sessions.first {
            app.hasReplicas($0.place) && $0.life.readyAt < request.handling.order && holdsKeys($0)
                && !frame.text.contains("\(app.modules[$0.place].row.name) is stopping")
        }
        expect(
            ready == nil, .available,
            "\(name(request)) was refused with unavailable, and \(ready?.name ?? "") was ready all the time")
    }

    /// Notes that a table has fewer replicas, or that the launcher retires one.
    func replicasChanged(retired: (Int) -> Bool) {
        for session in sessions where app.hasReplicas(session.place) && retired(session.place) {
            session.life.isRetired = true
        }
    }

    /// Checks that no other replica has got a broadcast for the same shared observation.
    func shared(_ request: SimulatedRequest, _ what: SimulatedApp.Observed, at session: SimulatedSession) {
        guard what.isShared else { return }
        let taken = Replicas.Taken(name: what.name, object: what.object, request: request.number)
        expect(
            replicas.taken.insert(taken).inserted, .share,
            "\(name(request)) came to \(session.name), and to another replica that shares \(what.json)")
    }

    /// Checks that each broadcast came to one of the replicas that share, at the run's end. One that was
    /// connected then, and has ended since, may have been given it.
    func checkShares() {
        guard let place = app.replicas.first, !app.isTight else { return }
        let all = sessions.filter { app.hasReplicas($0.place) && $0.life.joinedAt != .max }
        for what in app.modules[place].observed where what.isShared && !what.isLatest {
            let present = all.filter { session in
                holdsKeys(session) && session.observations.contains { $0.what == what && $0.until == .max }
            }
            for number in broadcasts[what.name] where !has(what, number) {
                let order = requests[number].handling.order
                let isLost = all.contains {
                    $0.life.joinedAt <= order && order <= $0.life.endedAt && $0.connection?.hasSession != true
                }
                guard !isLost, isFor(what, number), let replica = present.first(where: { $0.life.readyAt < order }),
                    requests[number].rank < replica.rank
                else { continue }
                expect(
                    false, .share,
                    "\(name(requests[number])) came to no replica that shares \(what.json), and \(replica.name) was there"
                )
            }
        }
    }

    private func has(_ what: SimulatedApp.Observed, _ number: Int) -> Bool {
        replicas.taken.contains(.init(name: what.name, object: what.object, request: number))
    }

    private func isFor(_ what: SimulatedApp.Observed, _ number: Int) -> Bool {
        let request = requests[number]
        return (what.object == nil || what.object == request.object) && request.end.code != "overloaded"
    }
}
