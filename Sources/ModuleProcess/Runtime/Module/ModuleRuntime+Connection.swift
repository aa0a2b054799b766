internal import StrataCore

extension ModuleRuntime {
    /// What each new connection begins with.
    func greet(_ session: Session) -> BusConnection.Greeting {
        session.onCall = { [unowned self, unowned session] header, body in self.received(header, body, on: session) }
        session.onNotice = { [unowned self, unowned session] header, body in
            self.received(notice: header, body, on: session)
        }
        let resumed = lifeCycle.hasStarted
        // In hello's order, part by part.
        var declared = observations.all[...]
        return BusConnection.Greeting(
            parts: OfferParts.of(hello(resumed: resumed)),
            answered: { [unowned self] part, answer in
                let count = part["observes"]?.array?.count ?? 0
                for (observing, number) in zip(declared.prefix(count), answer["subscriptions"]?.array ?? []) {
                    observations.subscribed(observing, number.integer)
                }
                declared = declared.dropFirst(count)
            },
            opened: { [unowned self] in
                telemetry?.metrics?.connected()
                telemetry?.tracing?.name(app: connection.welcome["app"]?.string ?? "")
                if resumed { runResumed() }
            })
    }

    private func runResumed() {
        guard let module else { return }
        let scope = CallScope(name: "\(name).resumed", in: surroundings)
        run(
            scope: scope,
            { if case .failure(let error) = $0 { ModuleLog.logger.error("\(scope.name) failed: \(error)") } },
            { try await module.resumed() })
    }

    /// The connection is gone, and what there was on it.
    /// - Returns: whether another is wanted.
    func connectionLost() -> Bool {
        observations.connectionLost()
        releases.connectionLost()
        guard case .living = phase else { return false }
        endInstances()
        // After tearDown nothing is left to come back for.
        guard lifeCycle.hasBegun(.tearDown) else { return true }
        shutDown()
        return false
    }

    func connectionEnded(_ end: BusConnection.End) {
        switch end {
        case .shuttingDown: shutDown()
        case .failed(let line): self.end(1, line)
        }
    }
}
