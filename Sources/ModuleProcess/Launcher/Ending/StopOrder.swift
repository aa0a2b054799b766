import StrataCore

/// The order in which an app's modules end, the reverse of the start's, and the
/// time that each may take.
///
/// All groups together have `budget`: a group gets an equal share of what is
/// left, half of it for tearDown and half from SIGTERM to SIGKILL, and never
/// more than its rows' `stop`; what it doesn't use is for those after it. So the
/// end of an app has a bound, however many modules hang.
struct StopOrder {
    /// For all modules, in milliseconds from the beginning of the app's end.
    static let budget: UInt64 = 7_500

    private var groups: [[String]]
    private let stop: [String: UInt64]
    private let end: UInt64

    /// - Parameters:
    ///   - running: the modules that have a process or wait for one.
    ///   - now: when the app's end began.
    init(_ table: AppTable, running: Set<String>, at now: UInt64) {
        let rows = table.modules.filter { running.contains($0.name) }
        let places = Set(rows.map { Place(rank: $0.rank, priority: $0.priority) })
        groups = places.sorted().map { place in
            rows.filter { $0.rank == place.rank && $0.priority == place.priority }.map(\.name)
        }
        stop = Dictionary(rows.map { ($0.name, $0.stop) }, uniquingKeysWith: { first, _ in first })
        end = now + Self.budget
    }

    /// What stops next, and how long each module may take; nil at the end.
    mutating func next(at now: UInt64) -> [(name: String, times: ModuleMachine.StopTimes)]? {
        guard !groups.isEmpty else { return nil }
        let share = (end > now ? end - now : 0) / UInt64(groups.count)
        return groups.removeFirst().map { name in
            let each = min(stop[name] ?? 0, share / 2)
            return (name, ModuleMachine.StopTimes(tearDown: each, terminate: each))
        }
    }

    /// Later levels first, and there the lower priority.
    private struct Place: Hashable, Comparable {
        var rank: Int
        var priority: Int
        static func < (one: Place, other: Place) -> Bool {
            one.rank != other.rank ? one.rank > other.rank : one.priority < other.priority
        }
    }
}
