internal import FaultRecord

/// The broadcasts of a process in one of its sessions.
struct Publication {
    var role: UInt8
    /// The node on which it was made.
    var node: UInt8 = 0
    /// The time of each broadcast. The first one has the number 1.
    var times: [UInt64] = []
    /// The time at which the broker was known to have the first `flushed` broadcasts.
    var flushedAt: UInt64?
    var flushed = 0
    /// The numbers that any process has got, each higher than those before it, with the times.
    private var sightings: [(time: UInt64, number: UInt64)] = []

    /// Returns the number of the first broadcast that was sent after that time.
    func first(after time: UInt64) -> UInt64 {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] > time { high = middle } else { low = middle + 1 }
        }
        return UInt64(low + 1)
    }

    /// Whether anything was broadcast in that time.
    func isActive(from: UInt64, to: UInt64) -> Bool {
        let next = Int(first(after: from))
        return next <= times.count && times[next - 1] <= to
    }

    /// Returns the highest number that the broker is known to have had before that time, because an
    /// observer had it; 0 for none.
    func known(before time: UInt64) -> UInt64 {
        sightings.last { $0.time < time }?.number ?? 0
    }

    /// The highest number that the broker is known to have had.
    var known: UInt64 { max(UInt64(flushed), sightings.last?.number ?? 0) }

    /// Returns a time at which the broker had a broadcast that it is known to have had.
    func arrived(_ number: UInt64) -> UInt64 {
        min(
            sightings.first { $0.number >= number }?.time ?? .max,
            number <= flushed ? flushedAt ?? .max : .max)
    }

    private mutating func wasSeen(_ all: [(time: UInt64, number: UInt64)]) {
        for sighting in all.sorted(by: { $0.time < $1.time })
        where sighting.number > sightings.last?.number ?? 0 && sighting.number <= times.count {
            sightings.append(sighting)
        }
    }

    /// Returns all publications of a run, by `process << 32 | session`.
    static func all(_ logs: [ProcessLog]) -> [UInt64: Publication] {
        var all: [UInt64: Publication] = [:]
        var sightings: [UInt64: [(time: UInt64, number: UInt64)]] = [:]
        for log in logs {
            var session: UInt64 = 1
            for record in log.records {
                let key = UInt64(log.process) << 32 | session
                switch record.event {
                case .session: session = record.number
                case .published:
                    let key = UInt64(log.process) << 32 | record.number
                    all[key, default: Publication(role: log.role, node: log.node)].times.append(record.time)
                case .refused:
                    all[UInt64(log.process) << 32 | record.number]?.times.removeLast()
                case .flushed:
                    guard var publication = all[key] else { continue }
                    publication.flushedAt = record.time
                    publication.flushed = publication.times.count
                    all[key] = publication
                case .noticed: sightings[record.number, default: []].append((record.time, record.detail))
                default: break
                }
            }
        }
        for (key, seen) in sightings { all[key]?.wasSeen(seen) }
        return all
    }
}
