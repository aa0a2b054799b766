internal import StrataCore

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
