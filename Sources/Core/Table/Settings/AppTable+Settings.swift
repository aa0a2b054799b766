extension AppTable {
    /// Returns the plain values that a module gets that declares no settings: all of them.
    public func undeclaredSettings(of row: Row?) -> JSON {
        guard let row else { return .object([]) }
        guard !row.settings.isEmpty, var all = settings.object else { return settings }
        var places = Dictionary(all.enumerated().map { ($1.name, $0) }) { first, _ in first }
        for member in row.settings {
            if let place = places[member.name] {
                all[place].value = member.value
            } else {
                places[member.name] = all.count
                all.append(member)
            }
        }
        return .object(all)
    }
}
