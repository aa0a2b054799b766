import StrataCore

/// The start of modules: setUp, initialize, ready, didStart, each in its turn.
extension BusCore {
    /// The eager rows in start order, those equal in level and priority together.
    static func eagerGroups(_ rows: [ModuleRecord]) -> [[Int]] {
        groups(rows.filter { $0.start == .eager }.sorted(by: ModuleTable.startsBefore)).map { $0.map(\.number) }
    }

    static func reverseGroups(_ modules: [ModuleRecord]) -> [[ModuleRecord]] {
        groups(modules).reversed()
    }

    private static func groups(_ sorted: [ModuleRecord]) -> [[ModuleRecord]] {
        var groups: [[ModuleRecord]] = []
        for module in sorted {
            if let last = groups.last?.last, last.rank == module.rank,
                (last.row?.priority ?? 0) == (module.row?.priority ?? 0)
            {
                groups[groups.count - 1].append(module)
            } else {
                groups.append([module])
            }
        }
        return groups
    }

    /// That process is to be the launcher: until it has said hello, for which it has as long
    /// as any peer, requests wait for modules as if it was there.
    func awaitLauncher(_ process: ProcessIdentity?) {
        seat.expect(process)
        setAlarm(.launcher, after: table.hello)
    }

    func launcherTimePassed() { launcherLeft() }

    /// Whether there is a launcher, or one that is about to say hello.
    var hasLauncher: Bool { launcher != nil || isAlarmSet(.launcher) }

    func launcherArrived() {
        cancelAlarm(.launcher)
        start.order.begin()
        noteAppStart(begun: true)
        turnMayHaveChanged()
        // Where there is nobody to wait for.
        if start.order.turn == .over { noteAppStart(begun: false) }
        for module in modules.rows where module.isWaitedFor { want(module) }
    }

    func launcherLeft() {
        for module in modules.rows {
            module.forgetVerdict()
            if module.peer == nil, module.state != .absent { setState(module, .absent, "the launcher is gone") }
            if !canBeWaitedFor(module) { failWaiting(module, unavailable(module)) }
        }
    }

    /// A module has said hello.
    func joined(_ module: ModuleRecord, resumed: Bool) {
        module.forgetVerdict()
        if resumed {
            module.step = .started
            start.order.didInitialize(module.number)
            becomeReady(module)
        } else {
            module.step = .joined
            setState(module, .starting)
            advance(module)
        }
        turnMayHaveChanged()
    }

    /// Takes a module's next step, where it is its turn.
    func advance(_ module: ModuleRecord) {
        guard let peer = module.peer, peer.phase == .open, peer.offering == .over, !module.isRetired, stage == .running
        else { return }
        switch module.step {
        case .joined where start.order.maySetUp(module.number):
            module.step = .settingUp
            note(.setUpBegun, of: module)
            setState(module, .settingUp)
            callStep(module, peer, setUpBody(), to: .setUp)
        case .setUp where start.order.mayInitialize(module.number):
            module.step = .initializing
            note(.initializeBegun, of: module)
            setState(module, .initializing)
            callStep(module, peer, to: .initialized)
        case .initialized where start.order.mayDidStart(module.number):
            module.step = .started
            callStep(module, peer, to: .started)
        case .none, .joined, .settingUp, .setUp, .initializing, .initialized, .started: break
        }
    }

    /// Calls a module at `module/…`; one that lacks the action has done it, and
    /// any other error is a failed start.
    func callStep(_ module: ModuleRecord, _ peer: Peer, _ body: [UInt8] = [], to reached: ModuleRecord.Step) {
        let step = Self.action(reaching: reached)
        callOwn(
            peer, to: "module/\(step)", body: body, deadline: table.startup, isLifecycle: true,
            .start(module, reaches: reached))
    }

    /// A step of a module's start was answered, or not in time.
    func startAnswered(_ module: ModuleRecord, _ peer: Peer, _ reached: ModuleRecord.Step, _ answer: OwnAnswer) {
        guard peer.phase == .open else { return }
        let step = Self.action(reaching: reached)
        switch answer {
        case .success: break
        case .failure(let error) where error.code == .unknownAction: break
        case .failure(let error) where error.code == .deadlineExceeded:
            end(
                peer,
                BusError(
                    .failed,
                    "\(module.name) did not answer module/\(step) within \(table.startup) ms (startup): its start failed"
                ))
            return
        case .failure(let error):
            end(
                peer,
                BusError(.failed, "\(module.name) failed in module/\(step): \(error.message) (\(error.code))"))
            return
        }
        if let successor = module.successor, successor.peer === peer {
            successor.step = reached
            switch reached {
            case .setUp: successor.times.note(.setUpEnded, at: moment)
            case .initialized: successor.times.note(.initializeEnded, at: moment)
            case .none, .joined, .settingUp, .initializing, .started: break
            }
            advance(successor, module)
        } else if module.peer === peer {
            hasReached(reached, module)
        }
    }

    /// The action of `module` that leads to a step.
    private static func action(reaching step: ModuleRecord.Step) -> String {
        switch step {
        case .setUp: "setUp"
        case .initialized: "initialize"
        case .started: "didStart"
        case .none, .joined, .settingUp, .initializing: preconditionFailure("no action leads to \(step)")
        }
    }

    func setUpBody() -> [UInt8] {
        let body: JSON = .object([
            .init("env", .string(table.env)), .init("settings", table.settings),
            .init("launchOptions", table.launchOptions),
        ])
        return body.encoded()
    }

    /// A step was answered.
    private func hasReached(_ step: ModuleRecord.Step, _ module: ModuleRecord) {
        module.step = step
        switch step {
        case .setUp:
            note(.setUpEnded, of: module)
            setState(module, .setUp)
            start.order.didSetUp(module.number)
        case .initialized:
            note(.initializeEnded, of: module)
            start.order.didInitialize(module.number)
            becomeReady(module)
        case .none, .joined, .settingUp, .initializing, .started: break
        }
        advance(module)
        turnMayHaveChanged()
    }

    func becomeReady(_ module: ModuleRecord) {
        note(.ready, of: module)
        setState(module, .ready)
        releaseWaiting(module)
        supervise(module)
    }

    /// Watches the time of a new turn, and lets those go on whose turn it is.
    func turnMayHaveChanged() {
        guard let turn = start.takeTurnChange() else { return }
        switch turn {
        case .setUp, .initialize: setAlarm(.startTurn, after: table.startup)
        case .notBegun: cancelAlarm(.startTurn)
        case .over:
            cancelAlarm(.startTurn)
            noteAppStart(begun: false)
        }
        for module in modules.inStartOrder { advance(module) }
    }

    func startTurnPassed() {
        _ = start.order.turnTimedOut()
        turnMayHaveChanged()
    }

    // MARK: the end of a session

    /// A row's session has ended.
    func rowEnded(_ module: ModuleRecord, reason: String) {
        let wasRetired = module.isRetired
        module.isRetired = false
        noteEnd(of: module)
        guard !module.isRemoved else {
            forget(module)
            turnMayHaveChanged()
            return
        }
        if module.row?.restart == .never, !wasRetired { module.diedForGood = true }
        start.order.begins(again: module.number)
        let state: ModuleRecord.State =
            switch module.verdict {
            case .starting: .starting
            case .restarting: .restarting
            case .failed: .failed
            case .absent: .absent
            case .none: canBeWaitedFor(module) && module.start != .onDemand && !wasRetired ? .restarting : .absent
            }
        setState(module, state, module.withDeath(reason))
        if wasRetired, isToStartAgain(module) {
            startAgain(module)
        } else if !canBeWaitedFor(module) {
            failWaiting(module, unavailable(module))
        }
        if module.verdict == .failed || module.verdict == .absent {
            start.order.leave(module.number)
            launcherGaveUp(module)
        }
        turnMayHaveChanged()
    }

    /// Whether a module was stopped whom the next request starts: what waits for it has
    /// come since.
    func isToStartAgain(_ module: ModuleRecord) -> Bool {
        module.wasRetiredReady && module.start == .onDemand && hasLauncher && stage == .running
    }

    /// Starts what was stopped where somebody wants it again, whatever the launcher says of
    /// the end, and also where it says nothing.
    func startAgain(_ module: ModuleRecord) {
        guard module.isWaitedFor, !module.isWanted, let launcher else { return }
        askToStart(module, launcher)
    }

    // MARK: waiting for a module

    /// Whether a module that isn't ready will be, as far as is known.
    func canBeWaitedFor(_ module: ModuleRecord) -> Bool {
        if module.isRemoved { return module.isReady }
        if module.peer != nil { return !module.isRetired || hasLauncher }
        guard hasLauncher, module.row != nil, stage == .running else { return false }
        switch module.verdict {
        case .starting, .restarting: return true
        case .failed: return false
        case .absent: return module.start == .onDemand
        case .none: return module.start == .onDemand || (module.start != .manual && !module.diedForGood)
        }
    }

    /// Asks the launcher for a module that is started on demand.
    func want(_ module: ModuleRecord) {
        guard module.start == .onDemand, module.peer == nil, !module.isWanted, let launcher,
            module.verdict == .none || module.verdict == .absent
        else { return }
        askToStart(module, launcher)
    }

    private func askToStart(_ module: ModuleRecord, _ launcher: Peer) {
        module.isWanted = true
        let body: JSON = .object([
            .init("module", .string(module.name)), .init("reason", .string("a request waits for it")),
        ])
        callOwn(launcher, to: "launcher/start", body: body.encoded(), deadline: 0, .wanted(module))
    }

    /// `launcher/start` was answered.
    func startWasAsked(_ module: ModuleRecord, _ answer: OwnAnswer) {
        module.isWanted = false
        guard case .failure(let error) = answer, !module.isReady else { return }
        failWaiting(module, BusError(.unavailable, "\(module.name) could not be started: \(error.message)"))
    }

    /// Ends every request that waits for a module.
    func failWaiting(_ module: ModuleRecord, _ error: BusError) {
        while let call = module.waiting.first { fail(call, error) }
        settle(module, isReady: false)
    }

    func unavailable(_ module: ModuleRecord) -> BusError {
        let why: String
        switch module.state {
        case .failed:
            why =
                "failed\(module.reason.isEmpty ? "" : " (\(module.reason))"): see strata ps, then strata start \(module.name)"
        case .stopping: why = "is stopping, and no launcher is there to start it again"
        default:
            why =
                module.start == .manual
                ? "is not running, and is started by hand: start its program, or strata start \(module.name) where its row has run"
                : launcher == nil
                    ? "is not running, and no launcher is there to start it: run strata up"
                    : "is not running: start it with strata start \(module.name)"
        }
        return BusError(.unavailable, "\(module.name) \(why)")
    }

    // MARK: states

    func setState(_ module: ModuleRecord, _ state: ModuleRecord.State, _ reason: String = "") {
        module.state = state
        module.reason = reason
        module.since = host.wallMicroseconds / 1_000
        guard module.row != nil, !watches.isEmpty else { return }
        for watch in watches.watches { watch.note(module) }
        feedWatches()
    }
}
