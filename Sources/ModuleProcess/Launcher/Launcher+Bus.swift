import StrataCore

/// The connection to the broker: it comes, and it goes.
extension Launcher {
    /// How long the launcher tries to reach a broker that is said to run, in
    /// milliseconds; as long as a module's runtime does.
    static let reach: UInt64 = 30_000

    func busCame() {
        guard case .running = phase else { return }
        keeper?.isConnected()
        if !isFirstBus { console.say("the broker is back after \(seconds(loop.now - busLostAt))") }
        // Those that run come first: they are connecting too.
        for supervisor in supervisors { vouch(for: supervisor) }
        for supervisor in supervisors {
            if let report = supervisor.machine.report { tell(report, of: supervisor) }
        }
        link.watch { [weak self] in self?.saw($0) }
        for supervisor in supervisors { supervisor.change { $0.busCame(at: loop.now) } }
        if isFirstBus {
            isFirstBus = false
            proceed(order.begin(at: loop.now))
            sayWhenAllReady()
        }
    }

    func busWent(_ reason: String) {
        busLostAt = loop.now
        waiters = Waiters()
        logReaders = []
        for supervisor in supervisors { supervisor.busWent() }
        if case .running = phase { console.say("no connection to the broker: \(reason)") }
    }

    func busRefused(_ error: BusError) {
        let code: Int32 = error.code == .nameTaken ? 3 : 1
        let what =
            error.code == .nameTaken
            ? "another launcher runs this app on \(settings.socket)" : "the broker refuses the launcher: \(error)"
        end(Ending(code: code, message: what))
    }

    func brokerEnded(_ exit: String) {
        guard case .running = phase else { return }
        console.say("the broker ended with \(exit); it is started again")
        link.drop()
        link.connect()
    }

    func brokerGaveUp(_ refusal: BrokerKeeper.Refusal) {
        link.drop()
        end(Ending(code: refusal.code, message: refusal.message))
    }

    /// Each second: a broker that can't be reached for long is none.
    func watchBus() {
        guard case .running = phase, !link.isUp, loop.now - busLostAt >= Self.reach else { return }
        guard let keeper else {
            end(Ending(code: 3, message: "there is no broker on \(settings.socket) for \(seconds(Self.reach))"))
            return
        }
        busLostAt = loop.now
        console.say("the broker doesn't answer for \(seconds(Self.reach)): it is killed, and started again")
        keeper.replace()
    }

    /// A partial reply of `bus/watch`.
    private func saw(_ body: [UInt8]) {
        guard let json = try? JSON(parsing: body), let name = json["module"]?.string,
            let state = json["state"]?.string.flatMap(BusState.init), let supervisor = supervisor(name)
        else { return }
        let pid = Int32(clamping: json["pid"]?.integer ?? 0)
        let reason = json["reason"]?.string ?? ""
        supervisor.saw(setAside: json["setAside"]?.array?.compactMap(\.string) ?? [])
        supervisor.saw(state, pid: pid, reason: reason)
    }
}
