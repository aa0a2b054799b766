/// The calls to the launcher that wait until a module reaches a state.
struct Waiters {
    enum Wanted { case ready, stopped, lent }

    static let most = 1_024

    struct Waiter {
        /// What is answered when the module has reached the state.
        enum Asker: Equatable {
            case call(UInt64)
            /// An order for a row's replicas, by its number.
            case order(Int)
        }

        var asker: Asker
        /// Whether the broker asked, on behalf of a waiting request, and not an operator.
        var isBus: Bool
    }

    private var open: [(waiter: Waiter, wanted: Wanted, module: String)] = []

    var hasRoom: Bool { open.count < Self.most }

    mutating func add(_ asker: Waiter.Asker, until wanted: Wanted, of module: String, isBus: Bool = false) {
        open.append((Waiter(asker: asker, isBus: isBus), wanted, module))
    }

    /// Drops a call whose caller gave up, or an order.
    mutating func drop(_ asker: Waiter.Asker) { open.removeAll { $0.waiter.asker == asker } }

    /// Takes the calls that waited for the module to be ready.
    mutating func ready(_ module: String) -> [Waiter] { take { $0.module == module && $0.wanted == .ready } }

    /// Takes the calls that waited for a process to be attached in place of the module.
    mutating func lent(_ module: String) -> [Waiter] { take { $0.module == module && $0.wanted == .lent } }

    /// Takes the calls that waited for the module's process to end.
    mutating func stopped(_ module: String) -> [Waiter] { take { $0.module == module && $0.wanted == .stopped } }

    /// Takes the calls that waited for a process, because the module has none and gets none.
    mutating func settled(_ module: String) -> [Waiter] { take { $0.module == module && $0.wanted != .stopped } }

    private mutating func take(_ belongs: ((waiter: Waiter, wanted: Wanted, module: String)) -> Bool) -> [Waiter] {
        let taken = open.filter(belongs).map(\.waiter)
        open.removeAll(where: belongs)
        return taken
    }
}
