import Glibc
import StrataCore
import StrataLoop
import StrataOperator

/// `launcher/lend`: attaches a process that a person runs, in place of a module. `strata run` asks
/// for it, and then becomes that process.
extension Launcher {
    /// Handles `{"module", "pid", "needsProgram"?}`. It is answered when the module's previous
    /// process has ended and the broker knows the new one's token. With `needsProgram`, the row
    /// must have a program that can be executed.
    func lend(_ supervisor: Supervisor, _ params: JSON, _ call: BusClient.Incoming) {
        do throws(BusError) {
            let process = try borrower(params)
            if let loan = supervisor.loan {
                throw BusError(
                    .unavailable, "process \(loan.pid) is run by hand as \(supervisor.name) already: end it first")
            }
            if params["needsProgram"]?.bool == true { try checkProgram(of: supervisor) }
            // The process may be attached at once, which answers the call.
            waiters.add(.call(call.id), until: .lent, of: supervisor.name)
            do throws(SystemError) { try supervisor.lend(to: process) } catch {
                waiters.drop(.call(call.id))
                throw BusError(.unavailable, "process \(process.pid) can't be watched: \(error)")
            }
        } catch {
            link.client.fail(call.id, error)
        }
    }

    /// Returns the process that is to become the module. It must belong to this user and be outside
    /// of the app, so that no one can attach a process that they don't control.
    private func borrower(_ params: JSON) throws(BusError) -> ProcessIdentity {
        guard let pid = params["pid"]?.integer.flatMap({ Int32(exactly: $0) }), pid > 0 else {
            throw BusError(.badParams, "launcher/lend expects {\"module\": NAME, \"pid\": PROCESS}; use strata run")
        }
        guard let process = ProcessIdentity(pid: pid), let user = ProcessFiles.user(of: pid) else {
            throw BusError(.badParams, "there is no process \(pid)")
        }
        guard user == geteuid() || user == 0 else {
            throw BusError(
                .forbidden,
                "process \(pid) belongs to user \(user): only root and user \(geteuid()), who runs the app, can run "
                    + "a module by hand")
        }
        switch Ancestors.descent(of: process, from: .own) {
        case .unrelated: return process
        case .itself, .descends:
            throw BusError(.forbidden, "process \(pid) belongs to the app: run a module by hand from outside the app")
        case .unknown:
            throw BusError(
                .forbidden,
                "the parents of process \(pid) changed while they were read, so it may belong to the app: try again"
            )
        }
    }

    private func checkProgram(of supervisor: Supervisor) throws(BusError) {
        let process = supervisor.process
        guard let executable = process.executable else {
            throw BusError(.unavailable, "the row of \(supervisor.name) has no `run`: name the program to run")
        }
        if let problem = Executable.problem(executable, of: process) {
            throw BusError(.unavailable, "\(supervisor.name) can't be run: \(problem)")
        }
    }

    func lent(_ supervisor: Supervisor) {
        guard let loan = supervisor.loan else { return }
        vouch(for: supervisor)
        console.say(of: supervisor.name, "process \(loan.pid), run by hand, took its place")
        let process = supervisor.process
        var members: [JSON.Member] = [
            .init("token", .string(loan.token)), .init("socket", .string(settings.socket)),
            .init("env", .string(surroundings.env)), .init("folder", .string(process.folder)),
            .init(
                "run", .array(([process.executable].compactMap { $0 } + process.run.dropFirst()).map { .string($0) })),
            .init(
                "variables", .object(process.env.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })),
        ]
        if let spans = surroundings.spans { members.append(.init("spans", .string(spans))) }
        if let user = supervisor.row.user { members.append(.init("user", .integer(Int64(user)))) }
        let body = JSON.object(members).encoded()
        for waiter in waiters.lent(supervisor.name) {
            if case .call(let id) = waiter.asker { link.client.reply(id, body) }
        }
    }

    /// Fails the calls that still wait for a loan, because the module was stopped first.
    func loanEnded(_ supervisor: Supervisor, _ loan: Loan) {
        guard case .stopping(let stopping) = supervisor.machine.state else { return }
        let error = BusError(
            .unavailable, "process \(loan.pid) could not take the place of \(supervisor.name): \(stopping.reason)")
        for waiter in waiters.lent(supervisor.name) { answer(waiter.asker, error) }
    }

    func takeBack(_ supervisor: Supervisor) {
        link.call("vouch", ["module": .string(supervisor.name), "pid": 0])
    }
}
