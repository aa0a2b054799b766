import StrataCore
import StrataManifest

/// The order in which the modules of this node are started: by level, then by priority. Modules of equal
/// priority form a group and start at once; each group starts when the previous one has done
/// `setUp`.
///
/// A value without I/O; `now` is in milliseconds.
struct StartOrder {
    /// The modules that start together.
    struct Group: Equatable {
        var rank: Int
        /// The next group waits for these.
        var eager: [String] = []
        /// The next group doesn't wait for these.
        var async: [String] = []
    }

    let groups: [Group]
    /// How long a group may delay the next one.
    private let startup: UInt64
    private var next = 0
    private var waitsFor: Set<String> = []
    private(set) var deadline: UInt64?

    init(_ table: AppTable) {
        startup = table.startup
        var groups: [Group] = []
        for rank in table.levels.indices {
            let rows = table.modules.filter { $0.rank == rank && !$0.isAway(from: table.node) }
            let eager = rows.filter { $0.start == .eager }
            let async = rows.filter { $0.start == .async }.map(\.name)
            var ofLevel = Set(eager.map(\.priority)).sorted(by: >).map { priority in
                Group(rank: rank, eager: eager.filter { $0.priority == priority }.map(\.name))
            }
            // Asynchronous modules start with the first group of their level.
            if !async.isEmpty {
                if ofLevel.isEmpty { ofLevel = [Group(rank: rank)] }
                ofLevel[0].async = async
            }
            groups += ofLevel
        }
        self.groups = groups
    }

    /// Whether every group has been started, and none is waited for.
    var isOver: Bool { next == groups.count && waitsFor.isEmpty }

    /// The modules that the next group waits for.
    var holders: Set<String> { waitsFor }

    mutating func begin(at now: UInt64) -> [String] { proceed(now) }

    /// Notes that a module did `setUp`, failed, or was stopped, and so delays no other module.
    mutating func passed(_ name: String, at now: UInt64) -> [String] {
        guard waitsFor.remove(name) != nil else { return [] }
        return proceed(now)
    }

    /// The group's time has passed, so the next group doesn't wait for it, except for modules
    /// without which the app can't start.
    mutating func deadlinePassed(at now: UInt64, isRequired: (String) -> Bool = { _ in false }) -> [String] {
        guard let passed = deadline, passed <= now else { return [] }
        waitsFor = waitsFor.filter(isRequired)
        deadline = nil
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

/// Counts a module's failures, and decides when it is restarted, if at all. A crash loop costs the
/// machine less and less, and then nothing.
///
/// The delays limit how often a process is *started*. They count from the last start, so a module
/// that ran for longer than its delay is restarted at once.
struct RestartPlan: Equatable {
    /// The number of quick failures in a row after which the launcher gives up. With the default
    /// delays, that takes nearly a minute.
    static let mostQuickDeaths = 10
    /// A failure is quick before the module is ready, or within this many milliseconds after that.
    /// A shorter `backoff.reset` takes precedence.
    static let quick: UInt64 = 10_000

    enum Decision: Equatable {
        /// Start the module at this time, in milliseconds.
        case start(at: UInt64)
        case giveUp
    }

    private var backoff: ModuleProcess.Backoff
    private var deaths = 0
    private(set) var quickDeaths = 0

    init(_ backoff: ModuleProcess.Backoff) { self.backoff = backoff }

    /// Takes over the delays of a reloaded manifest.
    mutating func update(_ backoff: ModuleProcess.Backoff) { self.backoff = backoff }

    /// Counts a failure.
    /// - Parameters:
    ///   - spawnedAt: When the process was started.
    ///   - readyAt: When the process became ready; nil if it never did.
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

    /// Forgets earlier failures, because someone asked for the module.
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
