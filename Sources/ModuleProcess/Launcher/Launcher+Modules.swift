import StrataCore
import StrataOperator

/// The launcher's reactions to its supervisors.
extension Launcher {
    func vouch(for supervisor: Supervisor) {
        // Without a connection nothing is sent: a new broker is told of every process.
        guard link.isUp, let vouch = supervisor.vouched else { return }
        let body: JSON = [
            "module": .string(supervisor.name), "token": .string(vouch.token),
            "pid": .integer(Int64(vouch.process.pid)),
            "startTicks": .integer(Int64(vouch.process.startTicks)), "byHand": .bool(vouch.isByHand),
            "pending": .array(supervisor.pending.map { .string($0) }),
            "spawnedAt": .integer(Int64(vouch.spawnedAt)),
            "restarts": .integer(Int64(supervisor.history.restarts)),
        ]
        link.call("vouch", body) { [weak self] answer in
            guard case .failure(let error) = answer, error.code != .died else { return }
            self?.console.say(of: supervisor.name, "the broker refused its token: \(error)")
        }
    }

    func tell(_ report: ModuleReport, of supervisor: Supervisor) {
        // Requests to a row that is back wait for its new process.
        if supervisor.isReturning, report.state == .absent { return }
        var members: [JSON.Member] = [
            .init("module", .string(supervisor.name)), .init("state", .string(report.state.rawValue)),
            .init("reason", .string(report.reason)), .init("spawnedAt", .integer(Int64(supervisor.spawnedAt))),
            .init("restarts", .integer(Int64(supervisor.history.restarts))),
        ]
        if !report.lines.isEmpty { members.append(.init("lines", .array(report.lines.map { .string($0) }))) }
        if let exit = report.exit { members.append(.init("exit", .string(exit))) }
        if report.wasAsked { members.append(.init("asked", true)) }
        link.call("moduleState", .object(members))
    }

    func retire(_ supervisor: Supervisor) {
        let body: JSON = ["module": .string(supervisor.name)]
        // The module's machine has a limit of its own, which expires first.
        link.call("retire", body, deadline: supervisor.row.stop + 10_000) { [weak self] _ in
            guard let self else { return }
            supervisor.change { $0.retired(at: self.loop.now) }
        }
    }

    func passedSetUp(_ supervisor: Supervisor) {
        proceed(order.passed(supervisor.name, at: loop.now))
    }

    func startFailed(_ supervisor: Supervisor) {
        proceed(order.passed(supervisor.name, at: loop.now))
        sayWhenAllReady()
    }

    func becameReady(_ supervisor: Supervisor, milliseconds: UInt64) {
        console.say(of: supervisor.name, "ready after \(seconds(milliseconds)), process \(supervisor.machine.pid ?? 0)")
        for waiter in waiters.ready(supervisor.name) { answer(waiter.asker, nil) }
        sayWhenAllReady()
    }

    func stopped(_ supervisor: Supervisor) {
        for waiter in waiters.stopped(supervisor.name) { answer(waiter.asker, nil) }
    }

    func settled(_ supervisor: Supervisor, _ settled: ModuleMachine.Settled) {
        switch settled {
        case .absent(let reason): console.say(of: supervisor.name, "stopped: \(reason)")
        case .failed(let reason, let lines):
            console.say(of: supervisor.name, "failed: \(ModuleMachine.with(lines, reason))")
            if supervisor.row.required {
                end(Ending(code: 1, message: "\(supervisor.name) is required, and failed: \(Printable.line(reason))"))
            }
        }
        stopped(supervisor)
        for waiter in waiters.settled(supervisor.name) {
            answer(waiter.asker, Self.error(of: supervisor.name, settled, isForBus: waiter.isBus))
        }
        proceed(order.passed(supervisor.name, at: loop.now))
        sayWhenAllReady()
        supervisorSettled()
        forgetRemoved(supervisor)
    }

    /// Forgets a module that a reload removed, once its last process has ended.
    func forgetRemoved(_ supervisor: Supervisor) {
        guard !settings.manifest.here.contains(where: { $0.row.name == supervisor.name }),
            supervisor.machine.isAtRest, supervisor.all.isEmpty
        else { return }
        supervisors.removeAll { $0 === supervisor }
        supervisor.close()
        logs.forget(supervisor.name)
    }

    func couldNotReplace(_ supervisor: Supervisor, _ why: String) {
        console.say(of: supervisor.name, "not replaced: \(why); process \(supervisor.machine.pid ?? 0) continues")
        let error = BusError(
            .unavailable, "\(supervisor.name) was not replaced: \(why); its process continues")
        for waiter in waiters.ready(supervisor.name) { answer(waiter.asker, error) }
    }

    /// Returns the error for a call that waited for the module.
    /// - Parameter isForBus: Whether the broker passes the error on to the sender of a waiting
    ///   request. It then leaves out the module's output.
    static func error(of name: String, _ settled: ModuleMachine.Settled, isForBus: Bool) -> BusError {
        switch settled {
        case .absent(let reason): BusError(.unavailable, "\(name) was stopped before it was ready: \(reason)")
        case .failed(let reason, let lines):
            BusError(.unavailable, "\(name) can't be started: \(ModuleMachine.with(isForBus ? [] : lines, reason))")
        }
    }
}
