import StrataCore

/// `bus/names`: what is emitted and broadcast here, as far as those who are
/// connected have said. The command line completes such names.
extension Broker {
    /// Of each kind; what comes after them isn't looked at.
    private static let mostNames = 1_024

    /// `{"events", "notifications"}`, each name once, in the order of the alphabet:
    /// events that modules take, notifications that they observe or that their rows
    /// broadcast.
    func namesAnswer() -> JSON {
        var events: Set<String> = []
        var notifications: Set<String> = []
        func add(_ names: some Sequence<String>, to set: inout Set<String>) {
            for name in names where set.count < Self.mostNames { set.insert(name) }
        }
        for module in modules.inStartOrder {
            add(module.events, to: &events)
            add(module.row?.broadcasts ?? [], to: &notifications)
            let observed = module.peer?.observations ?? []
            add(observed.lazy.map { String(decoding: $0.name, as: UTF8.self) }, to: &notifications)
        }
        func sorted(_ names: Set<String>) -> JSON { .array(names.sorted().map { .string($0) }) }
        return .object([.init("events", sorted(events)), .init("notifications", sorted(notifications))])
    }
}
