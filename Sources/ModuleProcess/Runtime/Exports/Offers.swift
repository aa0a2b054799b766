internal import StrataCore
internal import StrataDeriving

/// The offer of one `Bus.register`.
@ModuleActor
final class Registered {
    let exports: Exports
    init(_ exports: Exports) { self.exports = exports }
}

/// Everything that a module offers: the exports of its start, then each registration at run time,
/// in order.
@ModuleActor
final class Offers {
    /// The merged exports that are in force.
    private(set) var exports: Exports {
        didSet {
            actions = ActionTable(exports)
            contracts = nil
        }
    }
    /// The answer to `module/contracts`; nil until they are asked for.
    var contracts: Result<[UInt8], ContractFailure>?
    @exclusivity(unchecked)  // because each call reads it, on one thread
    private(set) var actions: ActionTable
    private let first: Exports
    private var registrations: [Registered] = []

    /// Creates the offers of a module.
    /// - Parameter first: The exports that `Module.register` filled in.
    init(_ first: Exports = Exports()) {
        self.first = first
        exports = first
        actions = ActionTable(first)
    }

    /// Whether nothing is registered at run time.
    var isAsAtStart: Bool { registrations.isEmpty }

    func contains(_ registered: Registered) -> Bool { registrations.contains { $0 === registered } }

    /// Puts a registration in force, for calls and for each later hello.
    func add(_ registered: Registered, by module: String) throws(BusError) {
        if let refusal = exports.refusal(of: registered.exports) { throw refusal }
        guard registrations.count < Bus.mostRegistrations else {
            throw BusError(
                .overloaded,
                "\(module) has \(registrations.count) registrations, its limit: end some, or put more into each")
        }
        registrations.append(registered)
        exports.merge(registered.exports)
    }

    /// Removes a registration.
    /// - Returns: Whether it was in force.
    func remove(_ registered: Registered) -> Bool {
        guard contains(registered) else { return false }
        exports = exports(without: registered)
        registrations.removeAll { $0 === registered }
        return true
    }

    /// Returns why a registration can't end; nil if it can.
    func refusal(ofEndOf registered: Registered) -> BusError? {
        exports(without: registered).refusal(afterEndOf: registered.exports)
    }

    /// Returns a registration's offer as it is sent to the bus.
    func offer(of registered: Registered) -> JSON {
        let offered = registered.exports
        return exports.offer(interfaces: Set(offered.interfaces.map(\.name)), urls: offered.urls)
    }

    /// The messages to the bus when a registration ends. What other registrations also offer is
    /// registered again; the rest is unregistered.
    struct Withdrawal: Equatable {
        /// The offers for `bus/register`.
        var again: [JSON] = []
        /// The offers for `bus/unregister`.
        var gone: [JSON] = []
    }

    /// Returns the messages that withdraw a registration.
    /// - Parameter taken: The batches of the offer that the bus has accepted.
    func withdrawal(of registered: Registered, _ taken: ArraySlice<JSON>) -> Withdrawal {
        let names = Set(taken.flatMap { $0["interfaces"]?.object ?? [] }.map(\.name))
        let urls = registered.exports.urls.prefix(taken.reduce(0) { $0 + ($1["urls"]?.array?.count ?? 0) })
        let left = exports(without: registered)
        let kept = names.intersection(left.interfaces.map(\.name))
        let again = left.urls.filter { url in urls.contains { $0.isAt(url) } }
        let gone = urls.filter { url in !left.urls.contains { $0.isAt(url) } }
        var withdrawal = Withdrawal()
        if !kept.isEmpty || !again.isEmpty {
            withdrawal.again = OfferParts.of(left.offer(interfaces: kept, urls: again))
        }
        if kept.count < names.count || !gone.isEmpty {
            let interfaces = names.subtracting(kept).sorted().map { JSON.Member($0, [:]) }
            // URLs come first: one that leads to an interface disappears with it.
            withdrawal.gone = OfferParts.of(["urls": .array(gone.map(\.json)), "interfaces": .object(interfaces)])
        }
        return withdrawal
    }

    /// Returns everything that is offered apart from one registration.
    private func exports(without registered: Registered) -> Exports {
        registrations.reduce(first) { $1 === registered ? $0 : $0.merged(with: $1.exports) }
    }
}
