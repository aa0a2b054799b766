/// Says what an app's start waits for, when something takes long: after a second, then
/// at ever longer intervals; and once what became of it.
///
/// A value without I/O; `now` in milliseconds.
struct StartProgress {
    private struct Told {
        var activity: String
        var since: UInt64
        var nextAfter: UInt64
    }

    /// What became of a module's first start.
    enum Fate {
        /// It is still going on.
        case open
        case ready
        case missed
    }

    private let startedAt: UInt64
    private var told: [String: Told] = [:]
    private var isSummedUp = false

    init(at now: UInt64) { startedAt = now }

    /// - Parameter starts: of the modules that the launcher starts by itself.
    /// - Returns: the first time when none is open any more, what became of them.
    mutating func summary(_ starts: [(name: String, fate: Fate)], at now: UInt64) -> String? {
        guard !isSummedUp, !starts.contains(where: { $0.fate == .open }) else { return nil }
        isSummedUp = true
        let time = seconds(now - startedAt)
        let missed = starts.filter { $0.fate == .missed }.map(\.name)
        switch (starts.count, missed.isEmpty) {
        case (1, true): return "the module is ready after \(time)"
        case (1, false): return "the module, \(missed[0]), is not ready after \(time)"
        case (let count, true): return "all \(count) modules are ready after \(time)"
        case (let count, false):
            return "\(count - missed.count) of \(count) modules are ready after \(time); not \(list(missed))"
        }
    }

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
