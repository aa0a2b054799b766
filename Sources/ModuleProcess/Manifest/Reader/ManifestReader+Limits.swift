import StrataCore

extension ManifestReader {
    /// The app's limits. Each has a range in which the broker can keep its
    /// promises.
    func limits(_ field: Field?) {
        guard let field else { return }
        let keys = [
            "frame", "header", "calls", "queue", "waiting", "observations", "interfaces", "urls", "instances",
            "connections", "unregistered", "held", "adapted", "total",
        ]
        let members = members(field, keys)
        let bytes = 1...(1 << 40)
        if let size: UInt32 = size(members["frame"], 1_024...(1 << 30)) { table.limits.frame = size }
        if let size: UInt32 = size(members["header"], 1_024...(1 << 20)) { table.limits.header = size }
        for (key, limit) in [
            ("queue", \AppTable.Limits.queue), ("held", \.held), ("adapted", \.adapted), ("total", \.total),
        ] {
            if let size = size(members[key], bytes) { table.limits[keyPath: limit] = size }
        }
        for (key, limit) in [
            ("calls", \AppTable.Limits.calls), ("waiting", \.waiting), ("observations", \.observations),
            ("interfaces", \.interfaces), ("urls", \.urls), ("instances", \.instances),
            ("unregistered", \.unregistered),
        ] {
            if let count = integer(members[key], 1...1_000_000) { table.limits[keyPath: limit] = count }
        }
        // The last 16 are kept for operators and the launcher.
        if let count = integer(members["connections"], 17...1_000_000) { table.limits.connections = count }
        if table.limits.header > table.limits.frame - 4 {
            fail(
                members["frame"] ?? members["header"] ?? field,
                "expected a frame with room for a header; found \(table.limits.frame) bytes for \(table.limits.header)")
        }
    }
}
