import Glibc
import StrataCore
import StrataLoop

/// `replace: overlap`: the module's next process starts beside the current one. When it is ready,
/// the broker passes the names to it, and lets the old process drain. This part starts and ends the
/// processes.
extension Supervisor {
    /// The extra time for the broker's part, in milliseconds.
    private static let slack: UInt64 = 1_000

    /// Starts the next process, unless one is starting already.
    func replace(reason: String) {
        guard replacement == nil else { return }
        switch startProcess() {
        case .failure(let problem): owner.couldNotReplace(self, problem.message)
        case .success(let next):
            replacement = next
            owner.console.say(of: name, "process \(next.pid) will take over: \(reason)")
            owner.vouch(for: self)
            // Hello, setUp and initialize may each take `startup`.
            let time = 3 * machine.policy.startup + Self.slack
            let timer = LoopTimer(owner.loop) { [unowned self] in
                self.giveUpReplacement("it was not ready within \(seconds(time))")
            }
            timer.start(after: time)
            replacementTimer = timer
        }
    }

    /// Handles the module's state as the broker reports it. The reported process is one of the
    /// supervisor's, or a descendant of one.
    func saw(_ state: BusState, pid: Int32, reason: String, startFailed: String) {
        if state == .ready, let next = replacement, isOf(next, pid) { return takeOver(next) }
        let known = current.flatMap { isOf($0, pid) ? $0.pid : nil } ?? pid
        change { $0.saw(state, pid: known, reason: reason, startFailed: startFailed, at: owner.loop.now) }
    }

    private func isOf(_ process: SupervisedProcess, _ pid: Int32) -> Bool {
        guard pid != process.pid else { return true }
        return ProcessIdentity(pid: pid).map { Ancestors.descent(of: $0, from: process.identity) } == .descends
    }

    private func takeOver(_ next: SupervisedProcess) {
        endReplacing()
        if let old = current {
            draining.append(old)
            // The broker lets it drain, then tear down, with up to `stop` for each.
            old.end(in: 2 * machine.policy.stop + Self.slack, grace: max(1, machine.policy.stop))
        }
        let wasPending = !pending.isEmpty
        current = next
        if wasPending { owner.vouch(for: self) }
        change { $0.replaced(by: next.pid, spawnedAt: next.startedAt, isReady: true, at: owner.loop.now) }
    }

    /// Continues with the replacement, if one is starting, when the current process has ended.
    func goOnWithReplacement(_ exit: ChildProcess.Exit) -> Bool {
        guard let next = replacement, machine.isRunning else { return false }
        endReplacing()
        current = next
        owner.console.say(of: name, "it ended with \(exit); process \(next.pid) took its place")
        change { $0.replaced(by: next.pid, spawnedAt: next.startedAt, isReady: false, at: owner.loop.now) }
        return true
    }

    func replacementEnded(_ process: SupervisedProcess, _ exit: ChildProcess.Exit) {
        endReplacing()
        let lines = process.lastLines.brief
        disappoint(ModuleMachine.with(lines, "process \(process.pid) ended with \(exit) before it was ready"))
    }

    private func giveUpReplacement(_ why: String) {
        abandonReplacement()
        disappoint(why)
    }

    /// Tells the broker which process keeps the name; the broker then refuses the other one.
    private func disappoint(_ why: String) {
        owner.vouch(for: self)
        owner.couldNotReplace(self, why)
    }

    /// Ends the replacement, which is no longer to take over.
    func abandonReplacement() {
        guard let next = replacement else { return }
        endReplacing()
        draining.append(next)
        next.end(in: 0, grace: min(max(1, machine.policy.stop), 1_000))
    }

    private func endReplacing() {
        replacement = nil
        replacementTimer?.close()
        replacementTimer = nil
    }

    /// The broker has gone, and its knowledge of the replacement is lost.
    func busWent() {
        if replacement != nil { giveUpReplacement("the broker has ended") }
        for one in draining { one.end(in: 0, grace: min(max(1, machine.policy.stop), 1_000)) }
        change { $0.busWent(at: owner.loop.now) }
    }

    /// Ends all processes at once.
    func killAll(reason: String) {
        change { $0.kill(reason: reason) }
        for one in draining { one.send(SIGKILL) }
    }
}

/// `launcher/why`: the reason for a module's state.
///
/// The launcher keeps the last lines of each module and returns them on request. The broker holds
/// no output: it would have to keep it for all modules all the time.
extension Supervisor {
    /// Returns `{"module", "restarts", "reason"?, "activity"?, "pid"?, "end"?, "lines"?}`.
    ///
    /// `reason` explains the last end or refusal. `lines` is the output of a process that runs and
    /// isn't ready. `end` describes how the last process ended: `{"pid", "exit", "code" | "signal",
    /// "startedAt", "at", "lines"}`, with times in milliseconds since 1970.
    /// - Parameter most: The most bytes of the answer; the oldest lines are left out.
    func why(most: Int) -> [UInt8] {
        var (past, present) = (history.lastEnd?.lines ?? [], presentLines)
        while true {
            let answer = why(past: past, present: present).encoded()
            if answer.count <= most || (past.isEmpty && present.isEmpty) { return answer }
            if past.count >= present.count { past.removeFirst() } else { present.removeFirst() }
        }
    }

    /// Takes over the list of quarantined actions: the broker refuses them because the module died
    /// of them.
    func saw(quarantined actions: [String]) {
        for action in actions where !quarantined.contains(action) {
            owner.console.say(
                of: name,
                "\(action) is quarantined for \(seconds(process.backoff.reset)): it was the only open action at "
                    + "three deaths; strata restart \(name) ends the quarantine")
        }
        quarantined = actions
    }

    private var presentLines: [String] { machine.isReady ? [] : current?.lastLines.lines ?? [] }

    private func why(past: [String], present: [String]) -> JSON {
        var members: [JSON.Member] = [
            .init("module", .string(name)), .init("restarts", .integer(Int64(history.restarts))),
        ]
        if !machine.cause.isEmpty { members.append(.init("reason", .string(machine.cause))) }
        if let activity = machine.activity { members.append(.init("activity", .string(activity))) }
        if let pid = machine.pid { members.append(.init("pid", .integer(Int64(pid)))) }
        if let end = history.lastEnd { members.append(.init("end", Self.describe(end, past))) }
        if !present.isEmpty { members.append(.init("lines", .array(present.map { .string($0) }))) }
        return .object(members)
    }

    private static func describe(_ end: ProcessHistory.End, _ lines: [String]) -> JSON {
        let number: JSON.Member =
            switch end.exit {
            case .code(let code): .init("code", .integer(Int64(code)))
            case .signal(let signal): .init("signal", .integer(Int64(signal)))
            }
        return .object([
            .init("pid", .integer(Int64(end.pid))), .init("exit", .string(end.exit.description)), number,
            .init("startedAt", .integer(Int64(end.startedAt / 1_000))),
            .init("at", .integer(Int64(end.endedAt / 1_000))), .init("lines", .array(lines.map { .string($0) })),
        ])
    }
}
