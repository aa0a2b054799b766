internal import FaultRecord

/// The judgement of one process's notices.
struct ObservedRun {
    let log: ProcessLog
    let role: Role
    let publications: [UInt64: Publication]
    let views: NodeViews
    let delay: UInt64
    /// Whether the app has several nodes. Roles retain nothing then.
    let hasNodes: Bool
    /// Whether it began beside another process of its role.
    let isBesideOther: Bool
    /// What that other process had seen, if it ended in order; else nil.
    let predecessor: [Observer.Key: [UInt64: UInt64]]?
    /// Whether it ended beside a newer process, which had its observations by then.
    let hasSuccessor: Bool

    /// What is wrong, and whether the nodes were parted meanwhile.
    var findings: [(text: String, time: UInt64, isOfAParting: Bool)] = []
    var notices = 0
    /// The notices of other nodes.
    var crossed = 0
    var missed = 0
    /// The newest number that it has seen of each publication, in any session.
    var seen: [Observer.Key: [UInt64: UInt64]] = [:]

    private var observers: [Observer.Key: Observer] = [:]
    /// The missed notices that were reported to the observation of a pattern. It has one count for all names.
    private var missedOfPattern: UInt64 = 0
    /// The publications of which something has come in this session, also before the start's end.
    private var begun: [Observer.Key: Set<UInt64>] = [:]
    /// A time before which this session's observations had not begun.
    private var unobserved: UInt64
    private var newestNotice: UInt64
    /// The time after which every broadcast must arrive; nil before the end of the start.
    private var since: UInt64?
    private var isFirstSession = true

    init(
        log: ProcessLog, role: Role, publications: [UInt64: Publication], views: NodeViews, delay: UInt64,
        hasNodes: Bool, isBesideOther: Bool, predecessor: [Observer.Key: [UInt64: UInt64]]?, hasSuccessor: Bool
    ) {
        self.log = log
        self.role = role
        self.publications = publications
        self.views = views
        self.delay = delay
        self.hasNodes = hasNodes
        unobserved = log.begun
        newestNotice = log.begun
        self.isBesideOther = isBesideOther
        self.predecessor = predecessor
        self.hasSuccessor = hasSuccessor
    }

    mutating func judge() {
        for record in log.records {
            switch record.event {
            case .ready: since = record.time
            case .session:
                since = record.time
                forget()
                isFirstSession = isFirstSession && role.player != .runtime && record.number == 1
            case .closed:
                since = nil
                forget()
                isFirstSession = false
            case .noticed:
                newestNotice = record.time
                guard !record.traits.contains(.shared) else { continue }
                notices += 1
                take(record)
            case .drained: drained(record)
            default: break
            }
        }
    }

    private mutating func forget() {
        observers = [:]
        missedOfPattern = 0
        begun = [:]
        unobserved = newestNotice
    }

    private mutating func take(_ record: Record) {
        let key = Observer.Key(record)
        let publication = record.number
        if begun[key, default: []].insert(publication).inserted { beginRetained(record) }
        missed += Int(record.extra)
        let newest = seen[key]?[publication]
        seen[key, default: [:]][publication] = max(newest ?? 0, record.detail)
        guard let since else { return }
        var observer = observers[key] ?? Observer()
        if key.isPattern { observer.missed = missedOfPattern }
        defer {
            observers[key] = observer
            if key.isPattern { missedOfPattern = observer.missed }
        }
        observer.missed += UInt64(record.extra)
        guard let published = publications[publication], record.detail >= 1, record.detail <= published.times.count
        else {
            fail("came, and its publisher has not sent it", record)
            return
        }
        if published.node != log.node { crossed += 1 }
        if let last = observer.last[publication] {
            next(record, after: last, published, &observer)
        } else {
            begin(record, since, published, &observer)
        }
        observer.last[publication] = record.detail
        observer.previous = publication
    }

    /// Judges the first notice of a publication in this session by what was retained of it.
    private mutating func beginRetained(_ record: Record) {
        guard let published = publications[record.number], isRetained(published) else { return }
        let known = published.known(before: unobserved)
        if record.detail < known {
            fail("came first of its publisher, and number \(known) was retained", record)
        } else if known > 0, !record.traits.contains(.retained), !(record.traits.contains(.latest) && record.extra > 0),
            // When it takes over, a newer one may come in the round in which it begins to observe.
            !(isBesideOther && isFirstSession)
        {
            fail("came first of its publisher, and what was retained did not", record)
        }
    }

    private func isRetained(_ publication: Publication) -> Bool {
        !hasNodes && Role.all[Int(publication.role)].retains
    }

    /// Judges a notice that follows another one of the same publication.
    private mutating func next(
        _ record: Record, after last: UInt64, _ published: Publication, _ observer: inout Observer
    ) {
        guard record.detail > last else {
            fail("came after number \(last)", record)
            return
        }
        let gap = record.detail - last - 1
        guard published.node == log.node else {
            return use(gap, record, &observer, "came after number \(last)", missing: last + 1, of: published)
        }
        guard record.traits.contains(.latest) else {
            // A pattern's notice may tell of other names, whose broadcasts are of other nodes.
            let isOfOthers = hasNodes && record.traits.contains(.pattern)
            if gap > 0 || record.extra > 0 && !isOfOthers {
                fail("came after number \(last), missed being \(record.extra)", record)
            }
            return
        }
        if observer.previous == record.number, !isAmbiguous(record, last) {
            if gap != record.extra { fail("came after number \(last), missed being \(record.extra)", record) }
            observer.missed -= min(observer.missed, gap)
        } else {
            use(gap, record, &observer, "came after number \(last)", missing: last + 1, of: published)
        }
    }

    /// Judges the first notice of a publication in this session.
    private mutating func begin(
        _ record: Record, _ since: UInt64, _ published: Publication, _ observer: inout Observer
    ) {
        guard let owedSince = owed(published, since, record.time) else { return }
        var expected = published.first(after: owedSince)
        if isBesideOther && isFirstSession {
            // Before it took over, the notices went to the other process.
            guard let predecessor else { return }
            let last = predecessor[Observer.Key(record)]?[record.number] ?? 0
            if last >= record.detail, !record.traits.contains(.retained) {
                fail("came, and its predecessor had number \(last) already", record)
            }
            expected = max(expected, last + 1)
        }
        guard record.detail > expected else { return }
        let gap = record.detail - expected
        if record.traits.contains(.latest) || published.node != log.node {
            use(
                gap, record, &observer, "came first of its publisher, and number \(expected) was for it",
                missing: expected, of: published)
        } else {
            fail("came first of its publisher, and number \(expected) was for it", record)
        }
    }

    /// Returns the time after which all broadcasts of a publication are owed, as it is seen at another
    /// time; nil if it is of a node that isn't connected then.
    private func owed(_ published: Publication, _ since: UInt64, _ time: UInt64) -> UInt64? {
        guard published.node != log.node else { return since }
        return views.connected(log.node, published.node, at: time).map { max($0, since) + Self.settling }
    }

    /// The nanoseconds that it may take until another node's broker knows of an observation. News
    /// between nodes may be held up for almost the app's `lost`.
    static let settling: UInt64 = 8_000_000_000

    private mutating func use(
        _ gap: UInt64, _ record: Record, _ observer: inout Observer, _ what: String, missing: UInt64,
        of published: Publication
    ) {
        if gap > observer.missed {
            let time = published.times[Int(missing) - 1]
            let from = time > delay ? time - delay : 0
            let isAway = published.node != log.node
            // After the death of a broker nobody knows the number, so any number will do.
            let isTold =
                isAway && observer.missed > 0
                && views.forgot(log.node, published.node, from: from, to: record.time)
            if !isTold {
                fail(
                    "\(what), missed being \(record.extra), \(observer.missed) with those before", record,
                    isOfAParting: isOfAParting(published, from, record.time))
            }
            observer.missed = 0
        } else {
            observer.missed -= gap
        }
    }

    private func isOfAParting(_ published: Publication, _ from: UInt64, _ to: UInt64) -> Bool {
        published.node != log.node && views.wereParted(log.node, published.node, from: from, to: to)
    }

    /// Whether another process of that role may have broadcast something in between.
    private func isAmbiguous(_ record: Record, _ last: UInt64) -> Bool {
        guard let own = publications[record.number] else { return true }
        let from = own.times[Int(last) - 1]
        return publications.contains { key, other in
            key != record.number && other.role == own.role
                && other.isActive(from: from > delay ? from - delay : 0, to: record.time)
        }
    }

    /// Checks that everything that was flushed before the last ping has arrived.
    private mutating func drained(_ record: Record) {
        guard let since, !hasSuccessor, !(isBesideOther && isFirstSession) else { return }
        // At the run's end everything has had its time. A process that ends earlier may have notices
        // on their way from other nodes.
        let isAtTheEnd = !log.records.contains { $0.event == .tearDown }
        for key in Observer.Key.all(of: role) {
            let publisher = Role.publisher(ofNews: key.news)
            for (number, publication) in publications where publication.role == publisher {
                drainedRetained(key, number, publication, since, record)
                guard let flushedAt = publication.flushedAt, flushedAt < record.detail, publication.flushed > 0,
                    let owedSince = owed(publication, since, record.time),
                    publication.times[publication.flushed - 1] > owedSince,
                    isAtTheEnd || publication.node == log.node || flushedAt + Self.settling < record.detail
                else { continue }
                let last = max(observers[key]?.last[number] ?? 0, publication.first(after: owedSince) - 1)
                guard last < publication.flushed else { continue }
                // The last broadcast of one process may be replaced by the first one of the next
                // process.
                let gap = UInt64(publication.flushed) - last
                let missed = key.isPattern ? missedOfPattern : observers[key]?.missed ?? 0
                if key.keepsLatest || publication.node != log.node, missed >= gap {
                    if key.isPattern { missedOfPattern -= gap }
                    observers[key, default: Observer()].missed = missed - gap
                    observers[key]?.last[number] = UInt64(publication.flushed)
                    continue
                }
                findings.append(
                    (
                        "\(role.name): \(key.text) of process \(number >> 32), session \(number & 0xFFFF_FFFF): number "
                            + "\(last) was the last one to come, and \(publication.flushed) were sent before",
                        record.time,
                        isOfAParting(publication, last > 0 ? publication.times[Int(last) - 1] : since, record.time)
                    ))
            }
        }
    }

    /// Checks that something of a publication has come that was retained before the session began, and
    /// whose session continued after that.
    private mutating func drainedRetained(
        _ key: Observer.Key, _ number: UInt64, _ publication: Publication, _ since: UInt64, _ record: Record
    ) {
        guard isRetained(publication), let flushedAt = publication.flushedAt, flushedAt > since,
            flushedAt < record.detail, begun[key]?.contains(number) != true
        else { return }
        let known = publication.known(before: unobserved)
        guard known > 0 else { return }
        findings.append(
            (
                "\(role.name): \(key.text) of process \(number >> 32), session \(number & 0xFFFF_FFFF): nothing has come, "
                    + "and number \(known) was retained", record.time, false
            ))
    }

    private mutating func fail(_ what: String, _ record: Record, isOfAParting: Bool = false) {
        findings.append(
            (
                "\(role.name): \(Observer.Key(record).text) of process \(record.number >> 32), session "
                    + "\(record.number & 0xFFFF_FFFF): number \(record.detail) \(what)", record.time,
                isOfAParting
            ))
    }
}
