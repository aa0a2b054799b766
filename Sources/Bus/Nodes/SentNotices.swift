import StrataCore

/// The names and patterns that another node observes, and how many broadcasts of each name there were for it.
///
/// The counts go on from one connection to the next, and also count what wasn't sent. So the other
/// broker, which counts what it gets, learns with each new connection how many it has missed.
struct SentNotices: ~Copyable {
    /// One name or pattern. An object, so that the table is looked up by bytes.
    final class Entry {
        let observed: ObservedName
        /// The latest rank of its observers there; nil if nobody observes it any more, or only by patterns.
        fileprivate(set) var rank: Int?
        /// The number of broadcasts there were for the node in this series.
        var count: UInt64 = 0
        /// The number that it was not sent since the last one that it was sent. Of a pattern, those of names that only
        /// patterns observe, in all.
        var missed: UInt64 = 0
        /// Of a pattern: how many of the missed ones the node was told of over the present connection.
        fileprivate var toldMissed: UInt64 = 0
        /// Whether the node has named it over the present connection.
        fileprivate var isTold = true

        var name: String { Request.Bytes.text(observed.text) }

        init(_ observed: ObservedName, rank: Int?) { (self.observed, self.rank) = (observed, rank) }
    }

    /// The names that nobody observes any more and whose counts are kept. Beyond it they are
    /// forgotten, and another series begins.
    private static let mostFormer = 4_096

    private var entries = NameTable<Entry>()
    /// The number of entries without observers.
    private var former = 0
    /// Which counts these are; 0 before the first connection.
    private(set) var series: UInt64 = 0
    /// Whether some patterns have missed broadcasts that the node hasn't been told of.
    private(set) var hasMissedByPatterns = false

    /// The number of names that are observed.
    var observedCount: Int { entries.count - former }

    /// Returns the latest rank that observes a broadcast there, and the broadcast's counts if there are any yet; nil if
    /// nobody observes it.
    func observed(_ name: UnsafeRawBufferPointer) -> (rank: Int, entry: Entry?)? {
        let entry = entries.find(name)
        var rank = entry?.rank
        entries.forEachPattern(of: name) { if let other = $0.rank { rank = max(rank ?? other, other) } }
        return rank.map { ($0, entry) }
    }

    /// Begins the counts of a broadcast that only patterns observe. They are its own, because the other broker counts by
    /// names.
    /// - Parameter time: as below.
    mutating func count(_ name: UnsafeRawBufferPointer, at time: UInt64) -> Entry {
        forgetFormer(at: time)
        let entry = Entry(ObservedName(text: Array(name)), rank: nil)
        entries.set(entry.observed, entry)
        former += 1
        return entry
    }

    /// Notes that a broadcast which only patterns observe had no room. It isn't counted by its name, because its name may
    /// never come again: the next notice of any name is preceded by what its patterns have missed.
    mutating func missedByPatterns(_ name: UnsafeRawBufferPointer, from rank: Int) {
        entries.forEachPattern(of: name) { pattern in
            guard let latest = pattern.rank, LevelRule.broadcastReaches(from: rank, to: latest) else { return }
            pattern.missed += 1
        }
        hasMissedByPatterns = true
    }

    /// Takes how many broadcasts each pattern has missed in all, if the node hasn't been told, in the patterns' order. It
    /// is told the sums, and keeps them: so it misses nothing that was told over a connection that is lost.
    mutating func takeMissedByPatterns() -> [(pattern: String, missed: UInt64)] {
        var missed: [(String, UInt64)] = []
        entries.forEach { entry in
            guard entry.observed.isPattern, entry.missed > entry.toldMissed else { return }
            missed.append((entry.name, entry.missed))
            entry.toldMissed = entry.missed
        }
        hasMissedByPatterns = false
        return missed.sorted { $0.0 < $1.0 }
    }

    /// Notes that a connection begins. The counts of now are what its first frames tell.
    /// - Parameter time: a number that no earlier series had.
    mutating func begin(at time: UInt64) {
        if series == 0 { series = time }
        entries.forEach { entry in
            (entry.isTold, entry.toldMissed) = (false, 0)
            // What patterns have missed is not among the counts.
            if !entry.observed.isPattern { entry.missed = 0 } else if entry.missed > 0 { hasMissedByPatterns = true }
        }
    }

    /// The counts by name.
    var counts: [String: UInt64] {
        var counts: [String: UInt64] = [:]
        entries.forEach { if $0.count > 0 { counts[$0.name] = $0.count } }
        return counts
    }

    /// The names and patterns that are observed, each with the latest rank of its observers.
    var observed: [ObservedName: Int] {
        var observed: [ObservedName: Int] = [:]
        entries.forEach { observed[$0.observed] = $0.rank }
        return observed
    }

    mutating func observes(_ observed: ObservedName, rank: Int) {
        guard let entry = entries.find(observed) else { return entries.set(observed, Entry(observed, rank: rank)) }
        if entry.rank == nil { former -= 1 }
        (entry.rank, entry.isTold) = (rank, true)
    }

    mutating func unobserves(_ observed: ObservedName) {
        if let entry = entries.find(observed) { end(entry) }
    }

    private mutating func end(_ entry: Entry) {
        guard entry.rank != nil else { return }
        entry.rank = nil
        // A pattern has no counts to keep.
        if entry.observed.isPattern { entries.remove(entry.observed) } else { former += 1 }
    }

    /// Notes that the node has named all that it observes.
    /// - Parameter time: as above.
    mutating func isTold(at time: UInt64) {
        var untold: [Entry] = []
        entries.forEach { if !$0.isTold { untold.append($0) } }
        for entry in untold { end(entry) }
        forgetFormer(at: time)
    }

    /// Forgets names that nobody observes, or only by patterns, if there are many of them.
    mutating func forgetFormer(at time: UInt64) {
        guard former > Self.mostFormer else { return }
        var kept: [Entry] = []
        entries.forEach { if $0.rank != nil { kept.append($0) } }
        entries.removeAll()
        for entry in kept { entries.set(entry.observed, entry) }
        (former, series) = (0, time)
    }
}

/// How many broadcasts of each name have come from another node.
struct ReceivedNotices: ~Copyable {
    private final class Entry {
        let name: String
        var count: UInt64

        init(_ name: String, _ count: UInt64) { (self.name, self.count) = (name, count) }
    }

    /// Beyond so many names all are forgotten.
    private static let most = 65_536

    private var entries = ByteTable<Entry>()
    /// The other broker's series that is counted; 0 if there was no connection yet.
    private(set) var series: UInt64 = 0
    /// How many broadcasts each pattern that is observed here has missed in this series, as the other broker has said.
    private var missedByPatterns: [ObservedName: UInt64] = [:]

    /// Takes how many broadcasts a pattern has missed in all.
    /// - Returns: how many of them are new.
    mutating func missed(by pattern: ObservedName, inAll missed: UInt64) -> UInt64 {
        let known = missedByPatterns.updateValue(missed, forKey: pattern) ?? 0
        return missed > known ? missed - known : 0
    }

    /// Forgets a pattern that nobody observes here any more: the other broker does, too.
    mutating func forget(_ pattern: ObservedName) { missedByPatterns[pattern] = nil }

    /// Counts a notice, and those that were lost before it.
    mutating func received(_ name: UnsafeRawBufferPointer, _ number: UInt64) {
        if let entry = entries.find(name) {
            entry.count &+= number
        } else {
            if entries.count >= Self.most {
                entries.removeAll()
                // It is no broker's series, so the next connection begins anew.
                series = 1
            }
            entries.set(name, Entry(name.text, number))
        }
    }

    /// What was missed before a connection.
    enum Gap {
        case counted([String: UInt64])
        /// The other broker doesn't know it any more. These are the names that had come from it, or that it
        /// has broadcast for this node since it began.
        case unknown([String])
    }

    /// Notes that a connection ended before the other broker's counts had come. It may have sent notices over
    /// it, and nothing tells from which count on.
    mutating func hasMissedCounts() {
        // It is no broker's series.
        if series == 0 { series = 1 }
    }

    /// Takes the counts of the other broker as a connection begins.
    mutating func begins(_ series: UInt64, _ counts: [String: UInt64]) -> Gap {
        var gap = Gap.counted([:])
        if series == self.series {
            gap = .counted(
                counts.compactMapValues { name, count in
                    let seen = entries.find(name)?.count ?? 0
                    return count > seen ? count - seen : nil
                })
        } else if self.series != 0 {
            var names = counts.filter { $0.value > 0 }.map(\.key)
            entries.forEach { names.append($0.name) }
            gap = .unknown(names)
        }
        entries.removeAll()
        if series != self.series { missedByPatterns = [:] }
        self.series = series
        for (name, count) in counts { entries.set(name, Entry(name, count)) }
        return gap
    }
}

extension Dictionary {
    fileprivate func compactMapValues<New>(_ transform: (Key, Value) -> New?) -> [Key: New] {
        var result: [Key: New] = [:]
        for (key, value) in self { result[key] = transform(key, value) }
        return result
    }
}

// MARK: - The next program

/// What a node was sent and what has come from it, for the broker's next program.
struct NodeState: StatePart {
    var node = ""
    var sentSeries: UInt64 = 0
    var sentNames: [String] = []
    var sentCounts: [UInt64] = []
    /// The ranks; -1 for a name that nobody observes.
    var sentRanks: [Int] = []
    var receivedSeries: UInt64 = 0
    var receivedNames: [String] = []
    var receivedCounts: [UInt64] = []
    var sentPatterns: [String] = []
    var sentPatternRanks: [Int] = []
    var sentPatternsMissed: [UInt64] = []
    var receivedPatterns: [String] = []
    var receivedPatternsMissed: [UInt64] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &node)
        try file(2, &sentSeries)
        try file(3, &sentNames)
        try file(4, &sentCounts)
        try file(5, &sentRanks)
        try file(6, &receivedSeries)
        try file(7, &receivedNames)
        try file(8, &receivedCounts)
        try file(9, &sentPatterns)
        try file(10, &sentPatternRanks)
        try file(11, &sentPatternsMissed)
        try file(12, &receivedPatterns)
        try file(13, &receivedPatternsMissed)
        guard sentNames.count == sentCounts.count, sentNames.count == sentRanks.count,
            receivedNames.count == receivedCounts.count, sentPatterns.count == sentPatternRanks.count,
            sentPatterns.count == sentPatternsMissed.count,
            receivedPatterns.count == receivedPatternsMissed.count
        else { throw StateError("the counts of the node \(node) contradict each other") }
    }
}

extension SentNotices {
    func capture(into state: inout NodeState, most: Int) {
        state.sentSeries = series
        entries.forEach { entry in
            guard state.sentNames.count + state.sentPatterns.count < most else { return }
            if entry.observed.isPattern, let rank = entry.rank {
                state.sentPatterns.append(entry.name)
                state.sentPatternRanks.append(rank)
                state.sentPatternsMissed.append(entry.missed)
                return
            }
            state.sentNames.append(entry.name)
            state.sentCounts.append(entry.count)
            state.sentRanks.append(entry.rank ?? -1)
        }
    }

    mutating func resume(_ state: NodeState) {
        series = state.sentSeries
        for (index, name) in state.sentNames.enumerated() {
            let rank = state.sentRanks[index]
            let entry = Entry(ObservedName(text: Array(name.utf8)), rank: rank < 0 ? nil : rank)
            entry.count = state.sentCounts[index]
            if rank < 0 { former += 1 }
            entries.set(entry.observed, entry)
        }
        for (index, pattern) in state.sentPatterns.enumerated() {
            let entry = Entry(
                ObservedName(text: Array(pattern.utf8), isPattern: true), rank: state.sentPatternRanks[index])
            entry.missed = state.sentPatternsMissed[index]
            if entry.missed > 0 { hasMissedByPatterns = true }
            entries.set(entry.observed, entry)
        }
    }
}

extension ReceivedNotices {
    func capture(into state: inout NodeState, most: Int) {
        state.receivedSeries = series
        for (pattern, missed) in missedByPatterns.sorted(by: { $0.key < $1.key }).prefix(most) {
            state.receivedPatterns.append(Request.Bytes.text(pattern.text))
            state.receivedPatternsMissed.append(missed)
        }
        entries.forEach { entry in
            guard state.receivedNames.count < most else { return }
            state.receivedNames.append(entry.name)
            state.receivedCounts.append(entry.count)
        }
    }

    mutating func resume(_ state: NodeState) {
        series = state.receivedSeries
        for (pattern, missed) in zip(state.receivedPatterns, state.receivedPatternsMissed) {
            missedByPatterns[ObservedName(text: Array(pattern.utf8), isPattern: true)] = missed
        }
        for (name, count) in zip(state.receivedNames, state.receivedCounts) { entries.set(name, Entry(name, count)) }
    }
}
