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
        try await request(outgoing, offer, on: session) { answer in
            if case .failure = answer { self.forget(registered) }
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
        let left = exports(with: without(registered))
        let offered = registered.exports
        let names = Set(offered.interfaces.map(\.name))
        let kept = names.intersection(left.interfaces.map(\.name))
        let again = left.urls.filter { url in offered.urls.contains { $0.isAt(url) } }
        let gone = offered.urls.filter { url in !left.urls.contains { $0.isAt(url) } }
        do {
            if !kept.isEmpty || !again.isEmpty {
                let offer = left.offer(interfaces: kept, urls: again)
                try await request(.call("bus/register"), offer, on: session) { self.ended(registered, $0) }
            }
            if kept.count < names.count || !gone.isEmpty {
                let offer = exports.offer(interfaces: names.subtracting(kept), urls: gone)
                try await request(.call("bus/unregister"), offer, on: session) { self.ended(registered, $0) }
            }
        } catch let error as BusError where error.code == .died {}
        forget(registered)
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
