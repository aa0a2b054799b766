extension AppTable {
    /// Refuses to take the place of a table that is in force, where what can't
    /// change differs: the level table, the name and the group, which make the
    /// socket, and what each connection was told of frames in hello.
    public func mayFollow(_ old: AppTable) throws(BusError) {
        var fixed: [String] = []
        if app != old.app { fixed.append("app") }
        if levels != old.levels { fixed.append("levels") }
        if group != old.group { fixed.append("group") }
        if limits.frame != old.limits.frame { fixed.append("limits.frame") }
        if limits.header != old.limits.header { fixed.append("limits.header") }
        guard fixed.isEmpty else {
            throw BusError(
                .badParams,
                "\(fixed.joined(separator: " and ")) can't change while the app runs: end it with strata down, and start it anew"
            )
        }
    }
}
