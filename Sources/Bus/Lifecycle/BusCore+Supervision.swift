import StrataCore

/// Supervision of ready modules. If one is idle, the bus asks the launcher to stop it; if one
/// doesn't answer, to restart it, or only tells it.
extension BusCore {
    /// Begins when a module becomes ready.
    func supervise(_ module: ModuleRecord) {
        guard let peer = module.peer, let row = module.row else { return }
        if let idle = row.idle, row.start == .onDemand {
            peer.wasUsed(at: now)
            setAlarm(.idle, of: peer, after: idle)
        }
        if let interval = row.ping {
            setAlarm(.ping, of: peer, after: interval)
        } else if module.history.noteHang(nil, at: host.wallMicroseconds / 1_000) {
            // A reload has taken the pings away from a module that hangs.
            noteForWatches(module)
        }
    }

    func endSupervision(of peer: Peer) {
        cancelAlarm(.idle, of: peer)
        cancelAlarm(.ping, of: peer)
    }

    /// How often the launcher is asked to stop an idle module.
    private static let mostStopAttempts = 5

    func idleTimePassed(_ peer: Peer) {
        if peer.role == .link { return linkIdleTimePassed(peer) }
        guard let module = peer.module, let idle = module.row?.idle, module.peer === peer else { return }
        if module.isRetired {
            // The launcher didn't stop it, so it is asked again.
            if module.life.isIdleStop { stopIdle(module, peer, idle) }
            return
        }
        guard launcher != nil else {
            // There is no launcher to stop it now; one may come later.
            setAlarm(.idle, of: peer, after: idle)
            return
        }
        // A module that serves a request isn't idle, however long that takes.
        let unused = peer.firstServed == nil ? now - min(now, peer.lastRequest) : 0
        guard unused >= idle else { return setAlarm(.idle, of: peer, after: idle - unused) }
        retire(module, peer, .idle(idle))
    }

    /// Asks the launcher to stop a module that has done its tearDown for being idle, and can't be
    /// used any more. If that fails it asks again, at doubling intervals. After the last attempt it
    /// ends the session; a process with the runtime then ends by itself.
    func stopIdle(_ module: ModuleRecord, _ peer: Peer, _ idle: UInt64) {
        guard module.peer === peer, peer.isOpen else { return }
        let attempt = peer.countStop()
        guard attempt < Self.mostStopAttempts else {
            return end(peer, .shuttingDown, "\(module.name) was idle, and its process was not stopped: it must end")
        }
        let pause = min(idle, 1_000) << UInt64(attempt)
        guard let launcher else { return setAlarm(.idle, of: peer, after: pause) }
        order(
            launcher, "stop", module, "it had no requests for \(idle) ms",
            .stop(peer: peer.number, pause: pause))
    }

    /// Sends the watchdog's ping; any answer counts.
    func ping(_ peer: Peer) {
        guard let module = peer.module, let interval = module.row?.ping, module.peer === peer, !module.isRetired,
            stage == .running
        else { return }
        callOwn(
            peer, to: "module/ping", deadline: interval, .ping(module, interval: interval))
    }

    func pingAnswered(_ module: ModuleRecord, _ peer: Peer, _ interval: UInt64, _ answer: OwnAnswer) {
        guard module.peer === peer, peer.isOpen else { return }
        // Even an error shows that the module answers.
        guard case .failure(let error) = answer, error.code == .deadlineExceeded else {
            return noteHang(of: module, peer, nil, interval)
        }
        // A reload may have taken the pings away meanwhile.
        guard !module.isRetired, let row = module.row, row.ping != nil else { return }
        let reason = "it did not answer a ping within \(interval) ms"
        guard row.pingRestarts else { return noteHang(of: module, peer, reason, interval) }
        guard let launcher else { return setAlarm(.ping, of: peer, after: interval) }
        order(launcher, "restart", module, reason, .restart(peer: peer.number, pause: interval))
    }

    /// Notes whether a module hangs that isn't restarted for it. If that has changed, tells the
    /// watches and the launcher, and the next ping waits for the launcher's answer. So a launcher
    /// that is slow isn't told more and more.
    /// - Parameter reason: nil if it answers.
    private func noteHang(of module: ModuleRecord, _ peer: Peer, _ reason: String?, _ interval: UInt64) {
        guard module.history.noteHang(reason, at: host.wallMicroseconds / 1_000) else {
            return setAlarm(.ping, of: peer, after: interval)
        }
        noteForWatches(module)
        guard let launcher else { return setAlarm(.ping, of: peer, after: interval) }
        let body: JSON = .present([
            "module": .string(module.name), "hung": .bool(reason != nil), "reason": reason.map { .string($0) },
        ])
        callOwn(
            launcher, to: "launcher/hung", body: body.encoded(), deadline: 0,
            .hang(peer: peer.number, pause: interval))
    }

    /// Gives the launcher an order. If it is carried out, the module's state shows it.
    func order(
        _ launcher: Peer, _ action: String, _ module: ModuleRecord, _ reason: String, _ purpose: OwnPurpose
    ) {
        let body: JSON = ["module": .string(module.name), "reason": .string(reason)]
        callOwn(launcher, to: "launcher/\(action)", body: body.encoded(), deadline: 0, purpose)
    }
}
