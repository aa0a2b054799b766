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

    /// As `bus/register` and `bus/unregister` take them.
    func offer(interfaces names: Set<String>, urls: [URLExport]) -> JSON {
        let named = interfaces.filter { names.contains($0.name) }
        return [
            "interfaces": .object(named.map { JSON.Member($0.name, $0.json) }), "urls": .array(urls.map(\.json)),
        ]
    }
}
