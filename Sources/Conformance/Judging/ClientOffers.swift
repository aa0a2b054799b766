import StrataCore

/// What a client's hello offers.
struct ClientOffers {
    private let hello: JSON

    init(_ hello: JSON) { self.hello = hello }

    /// Whether hello has an action, an interface, an observation or an event: `Probe/echo`, `Box`, `probe.begun`.
    func has(_ name: String) -> Bool {
        let parts = name.split(separator: "/")
        if parts.count == 2 { return hello["interfaces"]?[String(parts[0])]?["actions"]?[String(parts[1])] != nil }
        let observed =
            hello["observes"]?.array?.contains { observed in
                [observed.string, observed["name"]?.string, observed["pattern"]?.string].contains(name)
            } ?? false
        let taken = hello["events"]?.array?.contains { $0.string == name } ?? false
        return observed || taken || hello["interfaces"]?[name] != nil
    }
}
