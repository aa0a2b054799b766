import StrataCore

/// What the broker does about a ready module that nobody uses, or that doesn't
/// answer: it asks the launcher to stop it, or to start it anew.
extension Broker {
    /// Begins when a module becomes ready.
    func supervise(_ module: ModuleRecord) {
        guard let peer = module.peer, let row = module.row else { return }
        if let idle = row.idle, row.start == .onDemand {
            peer.lastRequest = loop.now
            let timer = LoopTimer(loop) { [unowned self, unowned peer] in self.idleTimePassed(module, peer, idle) }
            timer.start(after: idle)
            peer.idleTimer = timer
        }
        if let interval = row.ping {
            let timer = LoopTimer(loop) { [unowned self, unowned peer] in self.ping(module, peer, interval) }
            timer.start(after: interval)
            peer.pingTimer = timer
        }
    }

    func endSupervision(of peer: Peer) {
        peer.idleTimer?.close()
        peer.idleTimer = nil
        peer.pingTimer?.close()
        peer.pingTimer = nil
    }

    private func idleTimePassed(_ module: ModuleRecord, _ peer: Peer, _ idle: UInt64) {
        guard module.peer === peer, !module.isRetired else { return }
        guard let launcher else {
            // Nobody to stop it now; perhaps later.
            peer.idleTimer?.start(after: idle)
            return
        }
        let unused = peer.firstServed == nil ? loop.now - min(loop.now, peer.lastRequest) : 0
        guard unused >= idle else {
            peer.idleTimer?.start(after: idle - unused)
            return
        }
        module.isIdleStop = true
        retire(module, peer) { [unowned self] in
            guard launcher.phase == .open else { return }
            self.order(launcher, "stop", module, "nobody asked anything of it for \(idle) ms")
        }
    }

    /// The watchdog: any answer counts.
    private func ping(_ module: ModuleRecord, _ peer: Peer, _ interval: UInt64) {
        guard module.peer === peer, !module.isRetired, stage == .running else { return }
        callOwn(peer, to: "module/ping", deadline: interval, isLifecycle: true) { [unowned self, unowned peer] answer in
            guard module.peer === peer, peer.phase == .open else { return }
            guard case .failure(let error) = answer, error.code == .deadlineExceeded else {
                peer.pingTimer?.start(after: interval)
                return
            }
            guard !module.isRetired else { return }
            guard let launcher = self.launcher else {
                peer.pingTimer?.start(after: interval)
                return
            }
            self.order(launcher, "restart", module, "it did not answer a ping within \(interval) ms")
        }
    }

    /// Asks the launcher; how it went shows in the module's state.
    private func order(_ launcher: Peer, _ action: String, _ module: ModuleRecord, _ reason: String) {
        let body: JSON = .object([.init("module", .string(module.name)), .init("reason", .string(reason))])
        callOwn(launcher, to: "launcher/\(action)", body: body.encoded(), deadline: 0) { _ in }
    }
}
