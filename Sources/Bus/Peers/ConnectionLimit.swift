/// How many connections a process may have: as the manifest says, or as its descriptors allow.
struct ConnectionLimit {
    /// Descriptors that no connection gets: the standard ones, the listener, the loop's, the
    /// lifeline, and for a while files of `/proc` and of a replacement.
    private static let kept = 32

    /// How many descriptors the process may have.
    var descriptors = Int.max

    /// - Parameter wanted: `limits.connections`.
    func most(_ wanted: Int) -> Int { min(wanted, max(1, descriptors - Self.kept)) }

    /// What bounds the connections.
    func name(_ wanted: Int) -> String {
        most(wanted) < wanted ? "RLIMIT_NOFILE, \(descriptors) descriptors" : "limits.connections"
    }

    /// What keeps `limits.connections` from being met; nil where nothing does.
    func problem(_ wanted: Int) -> String? {
        guard most(wanted) < wanted else { return nil }
        return
            "this process may open \(descriptors) descriptors (RLIMIT_NOFILE) and keeps \(Self.kept) of them, so it "
            + "takes \(most(wanted)) connections, and not the \(wanted) of limits.connections: raise ulimit -n"
    }
}
