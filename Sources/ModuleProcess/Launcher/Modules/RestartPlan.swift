import StrataManifest

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
