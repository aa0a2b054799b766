internal import StrataCore

extension ModuleRuntime {
    /// Returns the messages that begin a new connection.
    func greet(_ session: Session) -> BusConnection.Greeting {
        session.onCall = { [unowned self, unowned session] header, body in self.received(header, body, on: session) }
        session.onNotice = { [unowned self, unowned session] header, body in
            self.received(notice: header, body, on: session)
        }
        let resumed = lifeCycle.hasStarted
        // The observations in hello's order, which the parts keep.
        var declared = observations.all[...]
        return BusConnection.Greeting(
            parts: OfferParts.of(hello(resumed: resumed, takesFiles: session.takesFiles)),
            refusal: { [unowned self] in offers.exports.refusal(byBrokerThatSaid: $0) },
            answered: { [unowned self] part, answer in
                let count = part["observes"]?.array?.count ?? 0
                for (observing, number) in zip(declared.prefix(count), answer["subscriptions"]?.array ?? []) {
                    observations.subscribed(observing, number.integer)
                }
                declared = declared.dropFirst(count)
            },
            opened: { [unowned self] in
                settings?.take(welcome: connection.welcome["settings"] ?? [:])
                telemetry?.metrics?.connected()
                telemetry?.tracing?.name(app: connection.welcome["app"]?.string ?? "")
                if resumed {
                    openProperties()
                    runResumed()
                }
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

    /// Drops the state that belonged to the lost connection.
    /// - Returns: Whether to connect again.
    func connectionLost() -> Bool {
        observations.connectionLost()
        closeProperties()
        releases.connectionLost()
        endLeases()
        guard case .living = phase else { return false }
        endInstances()
        // After tearDown there is no reason to connect again.
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
    /// Registers an offer, now and on each later connection.
    func register(_ registered: Registered) async throws {
        let outgoing = Outgoing.call("bus/register")
        let session = try await connection.session(for: outgoing)
        if let refusal = registered.exports.refusal(byBrokerThatSaid: connection.welcome) { throw refusal }
        // Before the broker has it: the first call may arrive together with its answer.
        try offers.add(registered, by: name)
        let parts = OfferParts.of(offers.offer(of: registered))
        for (index, part) in parts.enumerated() {
            do {
                try await request(outgoing, part, on: session) { answer in
                    guard case .failure(let error) = answer, index == 0 || error.code == .died else { return }
                    self.forget(registered)
                }
            } catch {
                // The bus accepts each part separately, so the accepted parts are withdrawn.
                try? await withdraw(registered, parts[..<index], on: session)
                forget(registered)
                throw error
            }
        }
    }

    /// Withdraws an offer, except for what other registrations also offer.
    func unregister(_ registered: Registered) async throws {
        guard offers.contains(registered) else { return }
        if let refusal = offers.refusal(ofEndOf: registered) { throw refusal }
        guard connection.isThere else {
            // The next hello won't include it; a hello that is already under way does.
            forget(registered)
            return
        }
        let session = try await connection.session(for: .call("bus/unregister"))
        try await withdraw(registered, [offers.offer(of: registered)], on: session)
        forget(registered)
    }

    /// Tells the bus what a registration no longer offers, and what is offered again in its place.
    /// - Parameter taken: The parts of the offer that the bus has accepted.
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

    /// Forgets a registration if the connection ended: the broker has forgotten it, too.
    private func ended(_ registered: Registered, _ answer: Result<[UInt8], BusError>) {
        if case .failure(let error) = answer, error.code == .died { forget(registered) }
    }

    private func forget(_ registered: Registered) {
        guard offers.remove(registered) else { return }
        for set in registered.exports.instances.values { end(all: set) }
    }
}
