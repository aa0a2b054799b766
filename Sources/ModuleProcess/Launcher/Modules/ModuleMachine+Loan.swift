import StrataCore
import StrataLoop
import StrataManifest

/// Lending a module's place to a process that a person runs, and taking it back.
extension ModuleMachine {
    /// A person runs a process in its place. The one there is ends first; while the
    /// other lives none is started.
    /// - Parameter isWanted: whether one would be started where nobody has asked yet.
    mutating func lend(to pid: Int32, isWanted: Bool, at now: UInt64) -> [Action] {
        func loan(_ startsAgain: Bool) -> Loan { Loan(pid: pid, startsAgain: startsAgain) }
        switch state {
        case .untouched: return lend(loan(isWanted), at: now)
        case .settled: return lend(loan(false), at: now)
        case .pending: return lend(loan(true), at: now)
        case .running:
            return stop(at: now, reason: Self.reason(of: loan(true)), then: .lend(loan(true)))
        case .stopping(var stopping):
            stopping.afterwards = .lend(loan(stopping.afterwards == .start))
            stopping.reason = Self.reason(of: loan(true))
            state = .stopping(stopping)
            return []
        case .lent: preconditionFailure("illegal transition: \(state), lend")
        }
    }

    mutating func lend(_ loan: Loan, at now: UInt64) -> [Action] {
        var loan = loan
        loan.lentAt = now
        state = .lent(loan)
        // Nobody waits for what a person runs.
        return [.lent, .tell(ModuleReport(state: .starting, reason: Self.reason(of: loan))), .passedSetUp]
    }

    /// The process that had, or was to have, its place has ended.
    mutating func loanEnded(at now: UInt64) -> [Action] {
        switch state {
        case .lent(let loan):
            let reason = "process \(loan.pid), which was run by hand, has ended"
            // A child of it may be connected.
            guard loan.startsAgain else { return [.takeBack] + settle(.absent(reason)) }
            restarts.forget()
            state = .pending(at: now, reason: reason)
            return [.tell(ModuleReport(state: .restarting, reason: reason))] + spawnIfDue(now)
        case .stopping(var stopping):
            if stopping.isLent { return stopped(stopping, exit: nil, at: now) }
            guard case .lend(let loan) = stopping.afterwards else { return [] }
            stopping.afterwards = loan.startsAgain ? .start : .nothing
            state = .stopping(stopping)
            return []
        case .untouched, .settled, .pending, .running: return []
        }
    }

    /// Whether somebody has its place, is to have it, or is to give it back.
    var isLent: Bool {
        switch state {
        case .lent: return true
        case .stopping(let stopping):
            if case .lend = stopping.afterwards { return true }
            return stopping.isLent
        case .untouched, .settled, .pending, .running: return false
        }
    }

    static func reason(of loan: Loan) -> String { "process \(loan.pid), run by hand, takes its place" }

    /// What the broker says of the process that has its place: a debugger may run it
    /// several times.
    mutating func saw(_ bus: BusState, pid: Int32, of loan: Loan, at now: UInt64) -> [Action] {
        // Told late, of the session that was there before.
        guard pid == 0 || pid != loan.follows else { return [] }
        var loan = loan
        let wasReady = loan.isReady
        loan.isReady = bus == .ready
        state = .lent(loan)
        return loan.isReady && !wasReady ? [.becameReady(pid: loan.pid, milliseconds: now - loan.lentAt)] : []
    }
}

/// A module's place, lent to a process that a person runs: the token that the process
/// shows, and the watch for its end.
final class Loan {
    let process: ProcessIdentity
    let token = Token.make()
    /// The row that the process got; nil until it has the place.
    private(set) var startedAs: ModuleProcess?
    private let watcher: ProcessEndWatcher

    var pid: Int32 { process.pid }

    /// - Parameter onEnd: the process has ended.
    /// - Throws: where there is no such process any more.
    init(_ process: ProcessIdentity, _ loop: Loop, onEnd: @escaping () -> Void) throws(SystemError) {
        self.process = process
        watcher = try ProcessEndWatcher(loop, process, onEnd: onEnd)
    }

    /// It has the place, with this row.
    func took(as process: ModuleProcess) { startedAs = process }

    func close() { watcher.close() }
}
