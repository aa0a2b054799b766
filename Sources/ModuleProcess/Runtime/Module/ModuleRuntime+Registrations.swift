internal import StrataCore

/// What was offered by one `Bus.register`.
@ModuleActor
final class Registered {
    let exports: Exports
    init(_ exports: Exports) { self.exports = exports }
}

extension ModuleRuntime {
    /// Offers more, now and on each later connection.
    func register(_ registered: Registered) async throws {
        let outgoing = Outgoing.call("bus/register")
        let session = try await connected(for: outgoing)
        if let refusal = exports.refusal(of: registered.exports) { throw refusal }
        guard registrations.count < Bus.mostRegistrations else {
            throw BusError(
                .overloaded,
                "\(name) has \(registrations.count) registrations, its limit: end some, or offer more with each")
        }
        // Before the broker knows: the first call may come with its answer.
        setRegistrations(registrations + [registered])
        let offer = exports.offer(
            interfaces: Set(registered.exports.interfaces.map(\.name)), urls: registered.exports.urls)
        let parts = OfferParts.of(offer)
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
        guard registrations.contains(where: { $0 === registered }) else { return }
        if let refusal = exports(with: without(registered)).refusal(afterEndOf: registered.exports) { throw refusal }
        guard session != nil || connecting != nil else {
            // The next hello won't have it; one that is on its way has.
            forget(registered)
            return
        }
        let session = try await connected(for: .call("bus/unregister"))
        let offered = registered.exports
        let offer = exports.offer(interfaces: Set(offered.interfaces.map(\.name)), urls: offered.urls)
        try await withdraw(registered, [offer], on: session)
        forget(registered)
    }

    /// Tells the bus what has gone with a registration, and what is there again.
    /// - Parameter taken: the parts of it that the bus has.
    private func withdraw(_ registered: Registered, _ taken: ArraySlice<JSON>, on session: Session) async throws {
        let names = Set(taken.flatMap { $0["interfaces"]?.object ?? [] }.map(\.name))
        let urls = registered.exports.urls.prefix(taken.reduce(0) { $0 + ($1["urls"]?.array?.count ?? 0) })
        let left = exports(with: without(registered))
        let kept = names.intersection(left.interfaces.map(\.name))
        let again = left.urls.filter { url in urls.contains { $0.isAt(url) } }
        let gone = urls.filter { url in !left.urls.contains { $0.isAt(url) } }
        do {
            if !kept.isEmpty || !again.isEmpty {
                for part in OfferParts.of(left.offer(interfaces: kept, urls: again)) {
                    try await request(.call("bus/register"), part, on: session) { self.ended(registered, $0) }
                }
            }
            if kept.count < names.count || !gone.isEmpty {
                let interfaces = names.subtracting(kept).sorted().map { JSON.Member($0, [:]) }
                // URLs first: one that leads to an interface goes with that.
                let offer: JSON = ["urls": .array(gone.map(\.json)), "interfaces": .object(interfaces)]
                for part in OfferParts.of(offer) {
                    try await request(.call("bus/unregister"), part, on: session) { self.ended(registered, $0) }
                }
            }
        } catch let error as BusError where error.code == .died {}
    }

    /// The broker has forgotten everything together with the connection.
    private func ended(_ registered: Registered, _ answer: Result<[UInt8], BusError>) {
        if case .failure(let error) = answer, error.code == .died { forget(registered) }
    }

    private func without(_ registered: Registered) -> [Registered] { registrations.filter { $0 !== registered } }

    private func forget(_ registered: Registered) {
        guard registrations.contains(where: { $0 === registered }) else { return }
        setRegistrations(without(registered))
        for set in registered.exports.instances.values { end(all: set) }
    }
}
