import StrataCore

/// Time that passes: deadlines of requests, and the bus's own alarms. `wakeAt` is the earliest of all.
extension BusCore {
    /// Sets an alarm, or sets it anew.
    /// - Parameter delay: milliseconds from the round's time.
    func setAlarm(_ kind: Alarms.Alarm.Kind, of peer: Peer? = nil, after delay: UInt64) {
        setAlarm(kind, of: peer, at: now + delay)
    }

    func setAlarm(_ kind: Alarms.Alarm.Kind, of peer: Peer? = nil, at due: UInt64) {
        alarms.set(Alarms.Alarm(kind: kind, peer: peer?.number ?? 0), at: due)
        wake(at: due)
    }

    /// - Returns: whether it was set.
    @discardableResult
    func cancelAlarm(_ kind: Alarms.Alarm.Kind, of peer: Peer? = nil) -> Bool {
        alarms.cancel(Alarms.Alarm(kind: kind, peer: peer?.number ?? 0))
    }

    func isAlarmSet(_ kind: Alarms.Alarm.Kind, of peer: Peer? = nil) -> Bool {
        alarms.isSet(Alarms.Alarm(kind: kind, peer: peer?.number ?? 0))
    }

    /// A connection has closed: nothing of it is due any more.
    func cancelAlarms(of peer: Peer) {
        for kind in Alarms.Alarm.Kind.ofConnections { cancelAlarm(kind, of: peer) }
    }

    @inline(__always)
    func wake(at due: UInt64) {
        alarms.wake(at: due)
    }

    func timePassed() {
        deadlinesPassed()
        while let alarm = alarms.takeDue(now: now) { passed(alarm) }
        wakeForTheEarliest()
    }

    func wakeForTheEarliest() {
        alarms.sleep()
        if let tick = calls.nextTick() { wake(at: max(tick, now + 1)) }
        if let due = alarms.next { wake(at: due) }
    }

    private func passed(_ alarm: Alarms.Alarm) {
        switch (alarm.kind, connections[alarm.peer]) {
        case (.startTurn, _): startTurnPassed()
        case (.launcher, _): launcherTimePassed()
        case (.notes, _): noteTimePassed()
        case (.hello, let peer?): helloTimePassed(peer)
        case (.assembly, let peer?): event.add(.lookAtFrame(peer))
        case (.offering, let peer?): offeringTimePassed(peer)
        case (.finishing, let peer?): finishingTimePassed(peer)
        case (.lingering, let peer?): event.add(.close(peer))
        case (.idle, let peer?): idleTimePassed(peer)
        case (.ping, let peer?): ping(peer)
        // Those of a connection end with it.
        case (.hello, nil), (.assembly, nil), (.offering, nil), (.finishing, nil), (.lingering, nil), (.idle, nil),
            (.ping, nil):
            break
        }
    }
}
