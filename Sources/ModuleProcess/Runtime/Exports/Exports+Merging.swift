internal import StrataCore

extension Exports {
    /// These and what was offered later: an interface's further actions join
    /// those that it has, and an action or a URL offered again replaces.
    func merged(with later: Exports) -> Exports {
        var merged = self
        merged.merge(later)
        return merged
    }

    /// Why something can't be offered later; nil where it can.
    func refusal(of later: Exports) -> BusError? {
        guard later.observations.isEmpty, later.events.isEmpty, later.broadcasts.isEmpty, later.reports.isEmpty,
            later.required.isEmpty
        else {
            return BusError(
                .badParams,
                "bus/register takes interfaces, actions and URLs only: observe with `bus.observe`, and say the rest in "
                    + "`Module.register`")
        }
        for interface in later.interfaces {
            let known = interfaces.first { $0.name == interface.name }
            guard known == nil || !(interface.hasInstances || known?.hasInstances == true) else {
                return BusError(
                    .badParams,
                    "\(interface.name) is offered already, and one with instances can't be added to: end that "
                        + "registration first, or take another name")
            }
        }
        return nil
    }

    /// Why these can't be all that is left: a URL leads to an interface that isn't
    /// there any more. The bus would take the URL away with it.
    /// - Parameter ended: what is taken back.
    func refusal(afterEndOf ended: Exports) -> BusError? {
        let gone = ended.interfaces.filter { interface in !interfaces.contains { $0.name == interface.name } }
        guard let url = urls.first(where: { url in gone.contains { url.leads(to: $0) } }) else { return nil }
        return BusError(
            .badParams,
            "the URL \(url.host)\(url.path) of another registration leads to \(url.to), which would be gone: end that "
                + "registration first")
    }

    /// As `bus/register` and `bus/unregister` take them.
    func offer(interfaces names: Set<String>, urls: [URLExport]) -> JSON {
        let named = interfaces.filter { names.contains($0.name) }
        return [
            "interfaces": .object(named.map { JSON.Member(Name.said($0.name), $0.json) }),
            "urls": .array(urls.map(\.json)),
        ]
    }
}
