import StrataCore

/// The broadcasts that the bus keeps for later observers, by name and in the order in which they
/// were broadcast.
///
/// A plain table without I/O. `BusCore+Retained.swift` decides what goes into it.
struct RetainedTable: ~Copyable {
    private var byName = ByteTable<RetainedList>()
    /// By the first segments of their names, for patterns.
    private var byFirstSegment = ByteTable<RetainedList>()
    /// All retained notices.
    let all = RetainedList()
    /// The number of the next one.
    private(set) var next: UInt64 = 1
    /// The bytes of their texts.
    private(set) var textBytes = 0
    /// The number of notices.
    private(set) var count = 0

    /// Returns the list that has all notices which `Observation.Target.takes` might take for the
    /// target; nil if there are none.
    func list(for target: Observation.Target) -> RetainedList? {
        target.name.withUnsafeBytes { name in
            guard target.isPattern else { return byName.find(name) }
            let first = Self.firstSegment(name)
            guard NamePattern.isAny(first) || first.count == name.count else { return byFirstSegment.find(first) }
            return all.isEmpty ? nil : all
        }
    }

    /// Adds what a module has retained under one key.
    /// - Parameter names: its own name, then the names that adapters give it.
    mutating func keep(_ names: [[UInt8]], _ notice: KeptNotice, terms: RetainedBroadcast.Terms) -> RetainedBroadcast {
        let kept = RetainedBroadcast(
            terms: terms,
            notices: names.indices.map { RetainedNotice(number: takeNumber(), names[...$0], notice, terms) },
            notice: notice)
        add(kept)
        return kept
    }

    private static func firstSegment(_ name: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var segments = NamePattern.Segments(name)
        return segments.next() ?? name
    }

    private mutating func takeNumber() -> UInt64 {
        defer { next += 1 }
        return next
    }

    private mutating func add(_ kept: RetainedBroadcast) {
        textBytes += kept.terms.textCost
        count += kept.notices.count
        kept.notice.body.hold()
        for notice in kept.notices {
            all.add(notice)
            notice.name.withUnsafeBytes { name in
                Self.add(notice, to: &byName, name)
                Self.add(notice, to: &byFirstSegment, Self.firstSegment(name))
            }
        }
    }

    private static func add(
        _ notice: RetainedNotice, to table: inout ByteTable<RetainedList>, _ key: UnsafeRawBufferPointer
    ) {
        let list = table.find(key) ?? RetainedList()
        if list.isEmpty { table.set(key, list) }
        list.add(notice)
    }

    private static func end(
        _ notice: RetainedNotice, in table: inout ByteTable<RetainedList>, _ key: UnsafeRawBufferPointer
    ) {
        guard let list = table.find(key) else { return }
        list.hasEnded(notice.number)
        if list.isEmpty { table.remove(key) }
    }

    mutating func end(_ kept: RetainedBroadcast) {
        textBytes -= kept.terms.textCost
        count -= kept.notices.count
        kept.notice.body.letGo()
        for notice in kept.notices {
            notice.end()
            all.hasEnded(notice.number)
            notice.name.withUnsafeBytes { name in
                Self.end(notice, in: &byName, name)
                Self.end(notice, in: &byFirstSegment, Self.firstSegment(name))
            }
        }
    }

    /// Continues with what the previous program's bus retained, oldest first.
    /// - Parameter next: the number of the next notice.
    mutating func resume(_ all: [RetainedBroadcast], next: UInt64) {
        for kept in all { add(kept) }
        self.next = max(1, next)
    }
}

/// Retained notices in the order of their numbers. They are in short runs, so that adding, ending or
/// finding one takes little work however many there are.
final class RetainedList {
    /// The most notices of one run.
    private static let mostInRun = 256

    /// Notices that follow one another. Those that have ended stay until they are more than the others.
    private struct Run {
        var notices: [RetainedNotice]
        var live: Int
    }

    /// Each has a notice that has not ended.
    private var runs: [Run] = []

    var isEmpty: Bool { runs.isEmpty }

    fileprivate func add(_ notice: RetainedNotice) {
        if let last = runs.indices.last, runs[last].notices.count < Self.mostInRun {
            runs[last].notices.append(notice)
            runs[last].live += 1
        } else {
            runs.append(Run(notices: [notice], live: 1))
        }
    }

    /// Notes that the notice with this number has ended.
    fileprivate func hasEnded(_ number: UInt64) {
        let place = run(of: number)
        runs[place].live -= 1
        if runs[place].live == 0 {
            runs.remove(at: place)
        } else if runs[place].live * 2 < runs[place].notices.count {
            runs[place].notices.removeAll { $0.notice == nil }
        }
    }

    /// Returns the first notice with this number or a later one; nil if there is none.
    func first(from number: UInt64) -> RetainedNotice? {
        // If the run has none, the one after it has.
        for run in runs[run(of: number)...].prefix(2) {
            let place = run.notices.place { $0.number < number }
            if let notice = run.notices[place...].first(where: { $0.notice != nil }) { return notice }
        }
        return nil
    }

    /// Returns the index of the run that has this number if any has it.
    private func run(of number: UInt64) -> Int { max(0, runs.place { $0.notices[0].number <= number } - 1) }
}

/// A retained broadcast under one of its names.
final class RetainedNotice {
    /// Its place among all retained notices.
    let number: UInt64
    let name: [UInt8]
    /// The names before it that the broadcast has, its own and those of adapters.
    let earlierNames: [[UInt8]]
    /// Nil once it was replaced or has ended.
    private(set) var notice: KeptNotice?
    /// The number of the module that sent it, and the rank from which.
    let (module, rank): (Int, Int)

    /// - Parameter names: its name, after the earlier ones.
    init(number: UInt64, _ names: ArraySlice<[UInt8]>, _ notice: KeptNotice, _ terms: RetainedBroadcast.Terms) {
        (self.number, self.notice) = (number, notice)
        (name, earlierNames) = (names[names.endIndex - 1], Array(names.dropLast()))
        (module, rank) = (terms.module, terms.rank)
    }

    fileprivate func end() { notice = nil }
}

/// A broadcast that a module has retained.
struct RetainedBroadcast {
    let terms: Terms
    /// One for its name, and one for each name that adapters gave it.
    let notices: [RetainedNotice]
    let notice: KeptNotice

    struct Terms: StatePart {
        /// The number of the module that sent it.
        var module = 0
        /// The number of the session that sent it.
        var session: UInt64 = 0
        /// The sender's rank.
        var rank = 0
        /// The bytes of its texts.
        var textCost = 0

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &module)
            try file(2, &session)
            try file(3, &rank)
            try file(4, &textCost)
        }
    }

    /// The bytes that count against the sender's limit.
    var cost: Int { notice.body.bytes.count + terms.textCost }

    var key: Key { Key(name: notices[0].name, object: notice.object) }

    /// A newer broadcast of a module replaces the one that it has retained under the same key.
    struct Key: Hashable {
        let name: [UInt8]
        let object: [UInt8]?

        /// Hashes the bytes at once, which is much faster than one by one.
        func hash(into hasher: inout Hasher) {
            name.withUnsafeBytes { hasher.combine(bytes: $0) }
            object?.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}

/// The broadcasts that one module has retained.
struct RetainedBroadcasts {
    /// Of one key, each session that is still open may have one, and one that is over.
    private var byKey: [RetainedBroadcast.Key: [RetainedBroadcast]] = [:]
    private(set) var count = 0
    /// The bytes that count against the module's limit.
    private(set) var bytes = 0

    subscript(key: RetainedBroadcast.Key) -> [RetainedBroadcast] { byKey[key] ?? [] }

    /// All of them, in any order.
    var all: [RetainedBroadcast] { byKey.values.flatMap(\.self) }

    mutating func add(_ kept: RetainedBroadcast) {
        byKey[kept.key, default: []].append(kept)
        (count, bytes) = (count + 1, bytes + kept.cost)
    }

    mutating func remove(_ kept: RetainedBroadcast) {
        guard var others = byKey[kept.key] else { return }
        others.removeAll { $0.terms.session == kept.terms.session }
        byKey[kept.key] = others.isEmpty ? nil : others
        (count, bytes) = (count - 1, bytes - kept.cost)
    }

    /// Removes some of them, and returns these. Mostly a session has ended, and takes all with it.
    /// - Parameter isOver: gets one, and all of its key.
    mutating func removeAll(where isOver: (RetainedBroadcast, [RetainedBroadcast]) -> Bool) -> [RetainedBroadcast] {
        let over = byKey.values.flatMap { all in all.filter { isOver($0, all) } }
        if over.count == count {
            self = RetainedBroadcasts()
        } else {
            for kept in over { remove(kept) }
        }
        return over
    }
}

extension Observation.Target {
    /// Whether a retained notice is for it. A pattern takes a broadcast under the first name that matches.
    func takes(_ retained: RetainedNotice, _ notice: KeptNotice) -> Bool {
        retained.name.withUnsafeBytes(isOf)
            && !(isPattern && retained.earlierNames.contains { $0.withUnsafeBytes(isOf) })
            && (notice.object ?? []).withUnsafeBytes { matches(notice.object == nil ? nil : $0) }
    }
}
