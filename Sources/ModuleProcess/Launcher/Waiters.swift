/// Calls to the launcher that are answered when a module has got somewhere.
struct Waiters {
    enum Wanted { case ready, stopped, lent }

    static let most = 1_024

    struct Waiter {
        var id: UInt64
        /// The broker asked, for somebody's request, and not an operator.
        var isBus: Bool
    }

    private var open: [(waiter: Waiter, wanted: Wanted, module: String)] = []

    var hasRoom: Bool { open.count < Self.most }

    mutating func add(_ id: UInt64, until wanted: Wanted, of module: String, isBus: Bool = false) {
        open.append((Waiter(id: id, isBus: isBus), wanted, module))
    }

    /// The caller gave up.
    mutating func drop(_ id: UInt64) { open.removeAll { $0.waiter.id == id } }

    /// Those who waited for the module to be ready.
    mutating func ready(_ module: String) -> [Waiter] { take { $0.module == module && $0.wanted == .ready } }

    /// The module's place is lent: takes the calls that waited for it.
    mutating func lent(_ module: String) -> [Waiter] { take { $0.module == module && $0.wanted == .lent } }

    /// The module's process has ended: takes the calls that waited for it.
    mutating func stopped(_ module: String) -> [Waiter] { take { $0.module == module && $0.wanted == .stopped } }

    /// The module has no process and gets none: those who wanted one.
    mutating func settled(_ module: String) -> [Waiter] { take { $0.module == module && $0.wanted != .stopped } }

    private mutating func take(_ belongs: ((waiter: Waiter, wanted: Wanted, module: String)) -> Bool) -> [Waiter] {
        let taken = open.filter(belongs).map(\.waiter)
        open.removeAll(where: belongs)
        return taken
    }
}
