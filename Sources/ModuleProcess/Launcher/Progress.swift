/// Says what a start waits for, when something takes long: after a second, then
/// at ever longer intervals.
struct Progress {
    private struct Told {
        var activity: String
        var since: UInt64
        var nextAfter: UInt64
    }

    private var told: [String: Told] = [:]

    /// - Parameter starting: modules that are not ready, what each one waits for,
    ///   and since when.
    mutating func tick(
        _ starting: [(name: String, activity: String, since: UInt64)], at now: UInt64
    ) -> [(name: String, text: String)] {
        var lines: [(name: String, text: String)] = []
        var next: [String: Told] = [:]
        for (name, activity, since) in starting {
            var entry = told[name] ?? Told(activity: activity, since: since, nextAfter: 1_000)
            let waited = now - min(entry.since, now)
            if waited >= entry.nextAfter {
                lines.append((name, "waits \(activity), \(seconds(waited)) by now"))
                while entry.nextAfter <= waited { entry.nextAfter *= 3 }
            }
            entry.activity = activity
            next[name] = entry
        }
        told = next
        return lines
    }
}
