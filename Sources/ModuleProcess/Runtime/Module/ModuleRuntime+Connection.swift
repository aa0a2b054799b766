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

extension ModuleRuntime {
    /// Offers more, now and on each later connection.
    func register(_ registered: Registered) async throws {
        let outgoing = Outgoing.call("bus/register")
        let session = try await connection.session(for: outgoing)
        // Before the broker knows: the first call may come with its answer.
        try offers.add(registered, by: name)
        let parts = OfferParts.of(offers.offer(of: registered))
        for (index, part) in parts.enumerated() {
            do {
                try await request(outgoing, part, on: session) { answer in
                    guard case .failure(let error) = answer, index == 0 || error.code == .died else { return }
                    self.forget(registered)
                }
            } catch {
                // The bus takes each part by itself; what it has taken is taken back.
                try? await withdraw(registered, parts[..<index], on: session)
                forget(registered)
                throw error
            }
        }
    }

    /// Takes back what was offered; what was offered by others too stays.
    func unregister(_ registered: Registered) async throws {
        guard offers.contains(registered) else { return }
        if let refusal = offers.refusal(ofEndOf: registered) { throw refusal }
        guard connection.isThere else {
            // The next hello won't have it; one that is on its way has.
            forget(registered)
            return
        }
        let session = try await connection.session(for: .call("bus/unregister"))
        try await withdraw(registered, [offers.offer(of: registered)], on: session)
        forget(registered)
    }

    /// Tells the bus what has gone with a registration, and what is there again.
    /// - Parameter taken: the parts of it that the bus has.
    private func withdraw(_ registered: Registered, _ taken: ArraySlice<JSON>, on session: Session) async throws {
        let withdrawal = offers.withdrawal(of: registered, taken)
        do {
            for part in withdrawal.again {
                try await request(.call("bus/register"), part, on: session) { self.ended(registered, $0) }
            }
            for part in withdrawal.gone {
                try await request(.call("bus/unregister"), part, on: session) { self.ended(registered, $0) }
            }
        } catch let error as BusError where error.code == .died {}
    }

    /// The broker has forgotten everything together with the connection.
    private func ended(_ registered: Registered, _ answer: Result<[UInt8], BusError>) {
        if case .failure(let error) = answer, error.code == .died { forget(registered) }
    }

    private func forget(_ registered: Registered) {
        guard offers.remove(registered) else { return }
        for set in registered.exports.instances.values { end(all: set) }
    }
}
