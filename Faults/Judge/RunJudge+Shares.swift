internal import FaultRecord

/// Judges the observations that replicas share: each broadcast goes to one replica, and to none only
/// if it was lost with a replica's session.
extension RunJudge {
    /// The nanoseconds after its last record in which a process that was killed may still have had a
    /// session: it may have been halted before.
    private static let unnoticed: UInt64 = 3_000_000_000

    mutating func judgeShares(_ publications: [UInt64: Publication]) {
        // In an app of several nodes no row has replicas.
        guard !placement.hasNodes else { return }
        for (index, role) in Role.all.enumerated() {
            for name in role.shares { judgeShare(UInt8(index), Role.newsIndex(name), publications) }
        }
    }

    /// What one session of a replica has got of a shared observation.
    private struct Share {
        let process: UInt32
        var begun: UInt64
        /// The time from which it takes notices; nil before the end of the start.
        var since: UInt64?
        /// The time at which its session had ended at the latest; nil if it lasted to the run's end.
        var end: UInt64?
        /// Whether notices on their way to it were lost with the session.
        var isLost = false
        /// The newest number of each publication.
        var last: [UInt64: UInt64] = [:]

        init(_ process: UInt32, begun: UInt64, since: UInt64? = nil) {
            self.process = process
            self.begun = begun
            self.since = since
        }
    }

    private mutating func judgeShare(_ role: UInt8, _ news: UInt8, _ publications: [UInt64: Publication]) {
        var taken: [UInt64: Set<UInt64>] = [:]
        var shares: [Share] = []
        for log in logs where log.role == role && !log.records.isEmpty {
            shares += sessions(log, news, publications, &taken)
        }
        for (number, publication) in publications.sorted(by: { $0.key < $1.key })
        where publication.role == Role.publisher(ofNews: news) && publication.known > 0 {
            let taken = taken[number] ?? []
            for index in 1...publication.known
            where !taken.contains(index) && isOwed(number, index, publication, shares) {
                found(
                    .silentGap,
                    "\(Role.all[Int(role)].name): \(Role.all[Int(news)].news), shared, of process \(number >> 32), session "
                        + "\(number & 0xFFFF_FFFF): no replica has got number \(index)",
                    process: shares.last { $0.begun < publication.times[Int(index) - 1] }?.process,
                    time: publication.times[Int(index) - 1])
            }
        }
    }

    /// Returns the sessions of one process, and judges that nothing came to it that another one had.
    private mutating func sessions(
        _ log: ProcessLog, _ news: UInt8, _ publications: [UInt64: Publication], _ taken: inout [UInt64: Set<UInt64>]
    ) -> [Share] {
        var done: [Share] = []
        var share = Share(log.process, begun: log.begun)
        for record in log.records {
            switch record.event {
            case .ready: share.since = share.since ?? record.time
            case .session:
                share.end = record.time
                share.isLost = true
                done.append(share)
                share = Share(log.process, begun: record.time, since: record.time)
            case .tearDown: share.end = record.time
            case .noticed where record.kind == news && record.traits.contains(.shared):
                take(record, log, &share, &taken, publications)
            default: break
            }
        }
        let drained = log.records.last { $0.event == .drained }
        if drained == nil || share.end != nil && drained?.detail == 0 {
            share.isLost = true
            share.end = log.records.last.map { $0.time + Self.unnoticed }
        }
        return done + [share]
    }

    private mutating func take(
        _ record: Record, _ log: ProcessLog, _ share: inout Share, _ taken: inout [UInt64: Set<UInt64>],
        _ publications: [UInt64: Publication]
    ) {
        summarize {
            $0.notices += 1
            $0.shared += 1
        }
        let last = share.last[record.number] ?? 0
        share.last[record.number] = max(last, record.detail)
        // Each replica gets what is retained.
        guard !record.traits.contains(.retained) else { return }
        let what =
            "\(roleName(log)): \(Observer.Key(record).text): number \(record.detail) of process \(record.number >> 32)"
        let isFirst = taken[record.number, default: []].insert(record.detail).inserted
        if !isFirst {
            found(.doubled, "\(what) went to two replicas", process: log.process, time: record.time)
        } else if record.detail <= last {
            found(.silentGap, "\(what) came after number \(last)", process: log.process, time: record.time)
        }
        if record.detail > publications[record.number]?.times.count ?? 0 {
            found(
                .silentGap, "\(what) came, and its publisher has not sent it", process: log.process, time: record.time)
        }
    }

    /// Whether a broadcast that no replica has got had to come to one: one was there all the time, and
    /// none that might have been given it has lost its session.
    private func isOwed(_ key: UInt64, _ number: UInt64, _ publication: Publication, _ shares: [Share]) -> Bool {
        let sent = publication.times[Int(number) - 1]
        let arrived = publication.arrived(number)
        let isExpected = shares.contains { share in
            guard let since = share.since, since < sent else { return false }
            return share.end.map { $0 > arrived + (share.isLost ? 0 : Self.ending) } ?? true
        }
        return isExpected
            && !shares.contains { share in
                share.isLost && share.begun < arrived && share.end ?? .max > sent
                    && share.last[key] ?? 0 < number
            }
    }
}
