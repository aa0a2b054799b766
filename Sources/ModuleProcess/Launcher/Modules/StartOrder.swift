import StrataCore
import StrataManifest

/// The order in which the modules are started: by level, then priority, equal
/// ones at once, each group when the one before has done `setUp`.
///
/// A value without I/O; `now` in milliseconds.
struct StartOrder {
    /// What one turn starts.
    struct Group: Equatable {
        var rank: Int
        /// The next group waits for these.
        var eager: [String] = []
        /// For these nobody waits.
        var async: [String] = []
    }

    let groups: [Group]
    /// How long a group may hold up the next one.
    private let startup: UInt64
    private var next = 0
    private var waitsFor: Set<String> = []
    private(set) var deadline: UInt64?

    init(_ table: AppTable) {
        startup = table.startup
        var groups: [Group] = []
        for rank in table.levels.indices {
            let rows = table.modules.filter { $0.rank == rank }
            let eager = rows.filter { $0.start == .eager }
            let async = rows.filter { $0.start == .async }.map(\.name)
            var ofLevel = Set(eager.map(\.priority)).sorted(by: >).map { priority in
                Group(rank: rank, eager: eager.filter { $0.priority == priority }.map(\.name))
            }
            // Asynchronous ones take their level's first turn.
            if !async.isEmpty {
                if ofLevel.isEmpty { ofLevel = [Group(rank: rank)] }
                ofLevel[0].async = async
            }
            groups += ofLevel
        }
        self.groups = groups
    }

    /// Every group has been started.
    var isOver: Bool { next == groups.count && waitsFor.isEmpty }

    /// Which modules the next group waits for.
    var holders: Set<String> { waitsFor }

    mutating func begin(at now: UInt64) -> [String] { proceed(now) }

    /// It did `setUp`, failed, or was stopped: it holds up nobody.
    mutating func passed(_ name: String, at now: UInt64) -> [String] {
        guard waitsFor.remove(name) != nil else { return [] }
        return proceed(now)
    }

    /// The group's time has passed; the next one doesn't wait for it.
    mutating func deadlinePassed(at now: UInt64) -> [String] {
        guard let deadline, deadline <= now else { return [] }
        waitsFor = []
        return proceed(now)
    }

    private mutating func proceed(_ now: UInt64) -> [String] {
        var names: [String] = []
        while waitsFor.isEmpty, next < groups.count {
            let group = groups[next]
            next += 1
            names += group.eager + group.async
            waitsFor = Set(group.eager)
            deadline = now + startup
        }
        if waitsFor.isEmpty { deadline = nil }
        return names
    }
}

/// Counts a module's deaths, and says when its next start is due, or that there
/// is none: a crash loop costs the machine less and less, and then nothing.
///
/// The delays limit how often a process is *started*: they count from the last
/// start, so that a module which ran longer than its delay is back at once.
struct RestartPlan: Equatable {
    /// After so many quick deaths in a row the launcher gives up. With the
    /// default delays that is close to a minute.
    static let mostQuickDeaths = 10
    /// A death is quick before the module was ready, and so long after it, in
    /// milliseconds.
    static let quick: UInt64 = 10_000

    enum Decision: Equatable {
        /// Start it at this time, in milliseconds.
        case start(at: UInt64)
        case giveUp
    }

    private var backoff: ModuleProcess.Backoff
    private var deaths = 0
    private(set) var quickDeaths = 0

    init(_ backoff: ModuleProcess.Backoff) { self.backoff = backoff }

    /// The manifest was read again.
    mutating func update(_ backoff: ModuleProcess.Backoff) { self.backoff = backoff }

    /// - Parameters:
    ///   - spawnedAt: when the process was started.
    ///   - readyAt: when it got ready, where it did.
    mutating func died(at now: UInt64, spawnedAt: UInt64, readyAt: UInt64?) -> Decision {
        if let readyAt {
            if now - readyAt >= backoff.reset { deaths = 0 }
            if now - readyAt >= min(backoff.reset, Self.quick) { quickDeaths = 0 }
        }
        deaths += 1
        quickDeaths += 1
        guard quickDeaths < Self.mostQuickDeaths else { return .giveUp }
        let delay = delay(afterDeaths: deaths)
        return .start(at: max(now + min(backoff.first, delay), spawnedAt + delay))
    }

    /// Somebody asked for the module: its past doesn't count.
    mutating func forget() {
        deaths = 0
        quickDeaths = 0
    }

    private func delay(afterDeaths deaths: Int) -> UInt64 {
        var delay = min(backoff.first, backoff.most)
        for _ in 1..<max(deaths, 1) where delay < backoff.most { delay = min(delay * 2, backoff.most) }
        return delay
    }
}
