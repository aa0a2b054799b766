import Glibc
import StrataCore

/// The end of an app. Its parts and their bounds, in milliseconds: the modules'
/// answers to `app.terminate` until 1,000, their ends (`StopOrder.budget`) until
/// 7,500, then 500 for what the broker has still to read, the broker until 9,000, what
/// is left of descendants until 9,500; then it is over whatever hangs.
extension Launcher {
    private static let announcedBy: UInt64 = 1_000
    /// How long the broker may take to have read what was said last.
    private static let leaveTaking: UInt64 = 500
    private static let brokerBy: UInt64 = 9_000
    private static let sweptBy: UInt64 = 9_500
    /// So long descendants are killed at least, one generation after another, also
    /// where a machine under load took the time before.
    private static let leastSweep: UInt64 = 500

    /// An order from outside; the second one takes no more time.
    public func ordered(_ by: String) {
        switch phase {
        case .notStarted, .running:
            console.say("\(by): the app ends")
            end(Ending(code: 0, message: by))
        case .announcing, .endingModules, .leavingBus, .endingBroker, .sweeping:
            console.say("\(by) again: everything is killed")
            killEverything()
        case .over: break
        }
    }

    /// Ends all in reverse order.
    public func end(_ ending: Ending) {
        guard case .running = phase else { return }
        endStartedAt = loop.now
        settings.manager.tell(.stopping, .status("the app ends: \(ending.message)"))
        phase = .announcing(ending)
        armEnd(Self.announcedBy)
        emit("terminate", ["reason": .string(ending.message)], within: Self.announcedBy) { [weak self] in
            self?.endModules()
        }
    }

    private func endModules() {
        guard case .announcing(let ending) = phase else { return }
        let running = supervisors.filter { supervisor in
            switch supervisor.machine.state {
            case .untouched, .settled: false
            case .pending, .running, .stopping, .lent: true
            }
        }
        let stops = StopOrder(settings.manifest.table, running: Set(running.map(\.name)), at: endStartedAt)
        phase = .endingModules(stops, ending)
        armEnd(Self.brokerBy)
        stopNext()
    }

    /// A module has no process any more: perhaps its group has ended.
    func supervisorSettled() {
        guard case .endingModules = phase else { return }
        stopNext()
    }

    private func stopNext() {
        guard case .endingModules(var stops, let ending) = phase, !isStoppingGroup else { return }
        // Stopping one that only waited settles it at once, and comes back here.
        isStoppingGroup = true
        while !supervisors.contains(where: { group.contains($0.name) && $0.machine.pid != nil }) {
            guard let next = stops.next(at: loop.now) else {
                isStoppingGroup = false
                return takeLeave(ending)
            }
            group = Set(next.map(\.name))
            phase = .endingModules(stops, ending)
            for (name, times) in next {
                supervisor(name)?.change { $0.stop(at: loop.now, reason: "the app ends", within: times) }
            }
        }
        isStoppingGroup = false
    }

    /// Says the last words on the bus, and has them read: a broker that is told to end
    /// before, ends without them.
    private func takeLeave(_ ending: Ending) {
        // A row that a reload took out, or one started meanwhile.
        for supervisor in supervisors { supervisor.killAll(reason: "the app ends") }
        phase = .leavingBus(ending)
        endReaders(ending)
        armEnd(loop.now - endStartedAt + Self.leaveTaking)
        // What comes over one connection is read in its order.
        link.call("ping") { [weak self] _ in self?.endBroker() }
    }

    private func endBroker() {
        guard case .leavingBus(let ending) = phase else { return }
        phase = .endingBroker(ending)
        armEnd(Self.brokerBy)
        link.close()
        guard let keeper else { return sweep(ending) }
        keeper.stop()
    }

    func brokerStopped() {
        guard case .endingBroker(let ending) = phase else { return }
        sweep(ending)
    }

    private func sweep(_ ending: Ending) {
        if keeper != nil, settings.passedSocket == nil, SocketAddress.occupant(settings.socket) == .dead {
            unlink(settings.socket)
        }
        phase = .sweeping(ending)
        loop.updateTime()
        sweepStartedAt = loop.now
        sweepOnce()
    }

    /// Kills the children that are left; theirs become this process's, and have
    /// their turn then.
    private func sweepOnce() {
        guard case .sweeping(let ending) = phase else { return }
        guard settings.ownsProcess else { return finish(ending) }
        let left = ProcessFiles.killChildren(except: isKnown)
        let elapsed = loop.now - endStartedAt
        if left.isEmpty { return finish(ending) }
        if elapsed >= Self.sweptBy, loop.now - sweepStartedAt >= Self.leastSweep {
            console.say("\(left.count == 1 ? "process" : "processes") \(list(left.map(String.init))) can't be killed")
            return finish(ending)
        }
        endTimer?.start(after: 5)
    }

    func endDeadlinePassed() {
        switch phase {
        case .notStarted, .running, .over: break
        case .announcing: endModules()
        case .leavingBus: endBroker()
        case .endingModules, .endingBroker: killEverything()
        case .sweeping: sweepOnce()
        }
    }

    private func killEverything() {
        keeper?.kill()
        for supervisor in supervisors { supervisor.killAll(reason: "the app ends") }
        switch phase {
        case .announcing(let ending), .endingModules(_, let ending), .leavingBus(let ending):
            phase = .endingBroker(ending)
            endReaders(ending)
            link.close()
            if keeper?.pid == nil { return sweep(ending) }
        case .notStarted, .running, .endingBroker, .sweeping, .over: break
        }
        // What can't even be killed is not waited for.
        let elapsed = loop.now - endStartedAt
        armEnd(max(elapsed + 200, Self.sweptBy - 200))
        if elapsed >= Self.sweptBy - 200, case .endingBroker(let ending) = phase { sweep(ending) }
    }

    private func armEnd(_ since: UInt64) {
        let due = endStartedAt + since
        endTimer?.start(after: due > loop.now ? due - loop.now : 0)
    }

    private func finish(_ ending: Ending) {
        phase = .over
        closeAll()
        onEnd(ending)
    }

    // MARK: Adopted processes

    /// Descendants whose parents died became this process's children; they are
    /// waited for as they end.
    func reapAdopted() {
        for pid in ProcessFiles.children() where !isKnown(pid) { ProcessFiles.reap(pid) }
        if case .sweeping = phase { sweepOnce() }
    }

    /// Whether somebody here waits for it: those libuv waits for.
    private func isKnown(_ pid: Int32) -> Bool {
        keeper?.pid == pid || supervisors.contains { $0.all.contains { $0.pid == pid } }
    }
}
