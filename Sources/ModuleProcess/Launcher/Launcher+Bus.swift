import StrataCore

/// The launcher's connection to the broker, which may come and go.
extension Launcher {
    /// How long the launcher tries to reach a broker, in milliseconds; as long as a module's
    /// runtime does.
    static let reach: UInt64 = 30_000

    /// Handles a new connection to the broker.
    /// - Parameter absence: How long there was none, in milliseconds; nil the first time.
    func busCame(after absence: UInt64?) {
        guard app.isRunning else { return }
        keeper?.isConnected()
        if let absence { console.say("the broker is back after \(seconds(absence))") }
        // Running modules come first, because they are connecting too.
        for supervisor in supervisors { vouch(for: supervisor) }
        for supervisor in supervisors {
            if let report = supervisor.machine.report { tell(report, of: supervisor) }
        }
        // A broker that another program keeps begins with the manifest's own numbers.
        if case .running = settings.broker, !replicaCounts.isEmpty { link.call("reload", ["keep": true]) { _ in } }
        linkKeeper?.busCame()
        link.watch { [weak self] in self?.saw($0) }
        for supervisor in supervisors { supervisor.change { $0.busCame(at: loop.now) } }
        if absence == nil {
            settings.onBus()
            proceed(order.begin(at: loop.now))
            sayWhenAllReady()
        }
    }

    func busWent(_ reason: String) {
        waiters = Waiters()
        replicaOrders = ReplicaOrders()
        logs.dropAll()
        for supervisor in supervisors { supervisor.busWent() }
        if app.isRunning { console.say("no connection to the broker: \(reason)") }
    }

    func busRefused(_ error: BusError) {
        let code: Int32 = error.code == .nameTaken ? 3 : 1
        let what =
            error.code == .nameTaken
            ? "another launcher runs this app on \(settings.socket)" : "the broker refuses the launcher: \(error)"
        end(Ending(code: code, message: what))
    }

    func brokerEnded(_ exit: String) {
        guard app.isRunning else { return }
        console.say("the broker ended with \(exit); it is started again")
        link.drop()
        link.connect()
    }

    func brokerGaveUp(_ refusal: BrokerKeeper.Refusal) {
        link.drop()
        end(Ending(code: refusal.code, message: refusal.message))
    }

    /// Checks each second for a broker that hasn't been reachable for 30 s.
    func watchBus() {
        guard app.isRunning, link.absence >= Self.reach else { return }
        guard let keeper else {
            end(Ending(code: 3, message: "there was no broker on \(settings.socket) for \(seconds(Self.reach))"))
            return
        }
        link.waitAnew()
        console.say("the broker did not answer for \(seconds(Self.reach)): it is killed, and started again")
        keeper.replace()
    }

    /// Handles a partial reply of `bus/watch`.
    private func saw(_ body: [UInt8]) {
        guard let json = try? JSON(parsing: body), let name = json["module"]?.string,
            let state = json["state"]?.string.flatMap(BusState.init), let supervisor = supervisor(name)
        else { return }
        let pid = Int32(clamping: json["pid"]?.integer ?? 0)
        let reason = json["reason"]?.string ?? ""
        supervisor.saw(quarantined: json["setAside"]?.array?.compactMap(\.string) ?? [])
        supervisor.saw(state, pid: pid, reason: reason, startFailed: json["startFailed"]?.string ?? "")
    }
}
