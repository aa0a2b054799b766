import StrataCore

/// `bus/names`: what is emitted and broadcast here, as far as those who are
/// connected have said. The command line completes such names.
extension BusCore {
    /// Of each kind, whether a name comes once or again; further ones aren't looked at.
    private static let mostNames = 1_024

    /// `{"events", "notifications"}`, each name once, in the order of the alphabet:
    /// events that modules take, notifications that they observe or that their rows
    /// broadcast.
    func namesListing(_: BusCall) -> Listing.Part {
        var events: [String] = []
        var notifications: [String] = []
        func add(_ names: some Sequence<String>, to list: inout [String]) {
            list += names.prefix(Self.mostNames - list.count)
        }
        for module in modules.inStartOrder {
            if events.count < Self.mostNames { add(module.session.events.sorted(), to: &events) }
            add(module.row?.broadcasts ?? [], to: &notifications)
            let observed = module.peer?.observations.all ?? []
            add(observed.lazy.map { String(decoding: $0.terms.target.name, as: UTF8.self) }, to: &notifications)
        }
        func sorted(_ names: [String]) -> [String] { Set(names).sorted() }
        return Listing.array("notifications", of: sorted(notifications), first: [.init("events", JSON(sorted(events)))])
        {
            .string($0)
        }
    }
}
