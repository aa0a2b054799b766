import StrataCore
import StrataLoop
import StrataManifest

/// Attaching a process that a person runs in place of a module, and detaching it.
extension ModuleMachine {
    /// Attaches a process that a person runs. The module's current process ends first, and none is
    /// started while the attached one lives.
    /// - Parameter isWanted: Whether a process is started afterwards if the module was never
    ///   started.
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
        // The start order doesn't wait for a process that a person runs.
        return [.lent, .tell(ModuleReport(state: .starting, reason: Self.reason(of: loan))), .passedSetUp]
    }

    /// The attached process, or the one that was waiting to be attached, has ended.
    mutating func loanEnded(at now: UInt64) -> [Action] {
        switch state {
        case .lent(let loan):
            let reason = "process \(loan.pid), which was run by hand, has ended"
            // A child of the process may still be connected.
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

    /// Whether a process is attached, waits to be attached, or is being detached.
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

    /// Handles the broker's report about the attached process. A debugger may run it several times.
    mutating func saw(_ bus: BusState, pid: Int32, of loan: Loan, at now: UInt64) -> [Action] {
        // A late report may be about the session before it.
        guard pid == 0 || pid != loan.follows else { return [] }
        var loan = loan
        let wasReady = loan.isReady
        loan.isReady = bus == .ready
        if loan.isReady { mustStart = false }
        state = .lent(loan)
        return loan.isReady && !wasReady ? [.becameReady(pid: loan.pid, milliseconds: now - loan.lentAt)] : []
    }
}

/// A process that a person runs in place of a module: its token, and a watch for its end.
final class Loan {
    let process: ProcessIdentity
    let token = Token.make()
    /// The row that the process was started with; nil until it is attached.
    private(set) var startedAs: ModuleProcess?
    private let watcher: ProcessEndWatcher

    var pid: Int32 { process.pid }

    /// Watches a process.
    /// - Parameter onEnd: Called when the process has ended.
    /// - Throws: If the process no longer exists.
    init(_ process: ProcessIdentity, _ loop: Loop, onEnd: @escaping () -> Void) throws(SystemError) {
        self.process = process
        watcher = try ProcessEndWatcher(loop, process, onEnd: onEnd)
    }

    /// Notes that the process is attached, with the given row.
    func took(as process: ModuleProcess) { startedAs = process }

    func close() { watcher.close() }
}
