import StrataCore

/// The start of modules: setUp, initialize, ready, didStart, each in its turn.
extension BusCore {
    /// Returns the numbers of the eager rows in start order, those of equal level and priority in
    /// one group.
    static func eagerGroups(_ rows: [ModuleRecord]) -> [[Int]] {
        groups(rows.filter { $0.start == .eager && !$0.isAway }.sorted(by: ModuleTable.startsBefore)).map {
            $0.map(\.number)
        }
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

    /// Expects this process to be the launcher. Until it says hello, requests wait for modules as
    /// if it were connected; it has as long for that as any peer.
    func awaitLauncher(_ process: ProcessIdentity?) {
        launcherSlot.expect(process)
        setAlarm(.launcher, after: table.hello)
    }

    func launcherTimePassed() { launcherLeft() }

    /// Whether the launcher is connected, or expected to say hello.
    var hasLauncher: Bool { launcher != nil || isAlarmSet(.launcher) }

    func launcherArrived() {
        cancelAlarm(.launcher)
        start.begin()
        noteAppStart(begun: true)
        turnMayHaveChanged()
        // There may be no eager module to wait for.
        if start.order.turn == .over { noteAppStart(begun: false) }
        for module in modules.rows where module.isWaitedFor { want(module) }
    }

    func launcherLeft() {
        for module in modules.rows {
            module.said.forgetVerdict()
            if module.peer == nil, module.life.absence.process != .absent {
                change(module, .processIs(.absent), "the launcher has ended")
            }
        }
        for module in modules.rows + modules.groups where module.isWaitedFor && !canBeWaitedFor(module) {
            work.add(abandoned: module)
        }
        advanceAbandoned()
    }

    /// Begins the start of a module that has said hello.
    func joined(_ module: ModuleRecord, resumed: Bool) {
        module.said.forgetVerdict()
        module.history.forgetStartFailure()
        change(module, .joined(resumed: resumed))
        if resumed {
            start.didInitialize(module.number)
            // Nobody knows which values it got at its start.
            if let peer = module.peer { giveSettings(to: peer, module) }
            becomeReady(module)
        } else {
            advance(module)
        }
        turnMayHaveChanged()
    }

    /// Takes a module's next step if it is its turn.
    func advance(_ module: ModuleRecord) {
        guard let peer = module.peer, peer.isOpen, peer.offering == .over, stage == .running,
            case .live(let step) = module.life
        else { return }
        switch step {
        case .joined where start.order.maySetUp(module.number):
            note(.setUpBegun, of: module)
            change(module, .began(.settingUp))
            callStep(module, peer, to: .setUp)
        case .setUp where start.order.mayInitialize(module.number):
            note(.initializeBegun, of: module)
            change(module, .began(.initializing))
            callStep(module, peer, to: .initialized)
        case .initialized where start.order.mayDidStart(module.number):
            module.take(.began(.started))
            callStep(module, peer, to: .started)
        case .joined, .settingUp, .setUp, .initializing, .initialized, .started: break
        }
    }

    /// Calls a module at `module/…`. A module that lacks the action counts as having done the step.
    /// Any other error means that its start has failed.
    func callStep(_ module: ModuleRecord, _ peer: Peer, to reached: ModuleLife.Step) {
        let to = "module/\(Self.action(reaching: reached))"
        guard reached == .setUp else {
            return callOwn(peer, to: to, deadline: table.startup, .start(module, reaches: reached))
        }
        let given = settings(for: peer, module)
        peer.settings?.begin(given.digests)
        callOwn(
            peer, to: to, body: setUpBody(given.json), shown: given.shown.map(setUpBody), deadline: table.startup,
            .start(module, reaches: reached))
    }

    /// Handles the answer to a step of a module's start, or its failure.
    func startAnswered(_ module: ModuleRecord, _ peer: Peer, _ reached: ModuleLife.Step, _ answer: OwnAnswer) {
        guard peer.isOpen else { return }
        let step = Self.action(reaching: reached)
        if case .failure(let error) = answer, error.code != .unknownAction {
            let isLate = error.code == .deadlineExceeded
            return failStart(
                of: module, peer,
                isLate
                    ? "it did not answer \(step) within \(duration(table.startup))"
                    : "its \(step) failed: \(error.message) (\(error.code))",
                isLate
                    ? "\(module.name) did not answer module/\(step) within \(table.startup) ms (startup): its start failed"
                    : "\(module.name) failed in module/\(step): \(error.message) (\(error.code))")
        }
        if let successor = module.successor, successor.peer === peer {
            successor.take(.reached(reached))
            switch reached {
            case .setUp: successor.note(.setUpEnded, at: moment)
            case .initialized: successor.note(.initializeEnded, at: moment)
            case .joined, .settingUp, .initializing, .started: break
            }
            advance(successor, module)
        } else if module.peer === peer {
            hasReached(reached, module)
        }
        // A reload may have come meanwhile.
        if reached == .setUp { giveSettings(to: peer, module) }
    }

    /// Returns the action of `module` that leads to a step.
    private static func action(reaching step: ModuleLife.Step) -> String {
        switch step {
        case .setUp: "setUp"
        case .initialized: "initialize"
        case .started: "didStart"
        case .joined, .settingUp, .initializing: preconditionFailure("no action leads to \(step)")
        }
    }

    private func setUpBody(_ settings: JSON) -> [UInt8] {
        let body: JSON = [
            "env": .string(table.env), "settings": settings, "launchOptions": table.launchOptions,
        ]
        return body.encoded()
    }

    /// Notes that a module has answered a step, and takes the next one.
    private func hasReached(_ step: ModuleLife.Step, _ module: ModuleRecord) {
        let before = module.life
        module.take(.reached(step))
        if module.life != before { changed(module) }
        switch step {
        case .setUp:
            note(.setUpEnded, of: module)
            start.didSetUp(module.number)
        case .initialized:
            note(.initializeEnded, of: module)
            start.didInitialize(module.number)
            // It isn't ready if it has begun to tear down.
            if module.isReady { becomeReady(module) }
        case .joined, .settingUp, .initializing, .started: break
        }
        advance(module)
        turnMayHaveChanged()
    }

    func becomeReady(_ module: ModuleRecord) {
        note(.ready, of: module)
        beginCatchingUp(module)
        releaseEvents(module)
        supervise(module)
    }

    /// If the turn has changed, starts its time and advances the modules whose turn it is.
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
        start.turnTimedOut { number in modules.rows.contains { $0.number == number && $0.row?.required == true } }
        turnMayHaveChanged()
    }

    // MARK: the end of a session

    /// Handles the end of a row's session.
    func rowEnded(_ module: ModuleRecord, reason: String) {
        let (wasRetired, wasReady) = (module.isRetired, module.isReady)
        noteEnd(of: module)
        leaveReplicas(module)
        guard !module.isRemoved else {
            module.take(.sessionEnded(.absent, isForGood: false))
            forget(module)
            turnMayHaveChanged()
            return
        }
        let hasFailed = hasFailedStart(module, reason: reason)
        if hasFailed { startFailed(module, failure(of: module, reason)) } else { start.begins(again: module.number) }
        let isForGood = module.row?.restart == .never && !wasRetired
        module.take(.sessionEnded(.absent, isForGood: isForGood))
        updateMailbox(module)
        // Until the launcher reports, it is assumed to restart what it started.
        let process =
            module.said.verdict.process
            ?? (canBeWaitedFor(module) && module.start != .onDemand && !wasRetired ? .restarting : .absent)
        change(module, .processIs(process), module.withDeath(reason))
        if wasRetired, isToStartAgain(module) {
            startAgain(module)
        } else if !canBeWaitedFor(module) {
            failWaiting(module, unavailable(module))
        } else if wasReady, module.isWaitedFor {
            // The session had not got all that waited for it.
            want(module)
        }
        if module.said.verdict == .failed || module.said.verdict == .absent { launcherGaveUp(module) }
        turnMayHaveChanged()
    }

    /// Whether a module was stopped that the next request starts. All requests that wait for it
    /// have come since the stop.
    func isToStartAgain(_ module: ModuleRecord) -> Bool {
        module.life.absence.wasStopped && module.start == .onDemand && hasLauncher && stage == .running
    }

    /// Starts a stopped module again if requests wait for it, whatever the launcher says about its
    /// end, and even if it says nothing.
    func startAgain(_ module: ModuleRecord) {
        guard module.isWaitedFor, !module.said.isStartAsked, let launcher else { return }
        askToStart(module, launcher)
    }

    // MARK: waiting for a module

    /// Whether a module that isn't ready is expected to become ready.
    func canBeWaitedFor(_ module: ModuleRecord) -> Bool {
        if module.replicas != nil { return module.members.contains(where: canBeWaitedFor) }
        if module.isRemoved { return module.isReady }
        // Only a launcher starts a retired module again.
        if module.peer != nil { return !module.isRetired || hasLauncher }
        guard hasLauncher, module.row != nil, stage == .running, module.history.startFailure.isEmpty,
            !isElsewhere(module)
        else { return false }
        switch module.said.verdict {
        case .starting, .restarting: return true
        case .failed: return false
        case .absent: return module.start == .onDemand
        case .none: return module.start == .onDemand || (module.start != .manual && !module.life.absence.diedForGood)
        }
    }

    /// Whether a request for a module that isn't ready waits, here or on the module's node.
    func mayWait(for module: ModuleRecord) -> Bool {
        reach(module).map { $0 == .connected } ?? canBeWaitedFor(module)
    }

    /// Asks the launcher to start a module, or all replicas of a row, if they are started on demand.
    func want(_ module: ModuleRecord) {
        if module.replicas != nil { return module.members.forEach(want) }
        guard module.start == .onDemand, module.peer == nil, !module.isAway, !module.said.isStartAsked, let launcher,
            module.said.verdict == .none || module.said.verdict == .absent
        else { return }
        askToStart(module, launcher)
    }

    /// The launcher's starts that are asked for in one event or batch: while a light peer is
    /// connected some twenty microseconds of work, otherwise a tenth of a millisecond.
    private static let (sharedStarts, startsInBatch) = (12, 100)

    private var mostStarts: Int { isShared ? Self.sharedStarts : Self.startsInBatch }

    private func askToStart(_ module: ModuleRecord, _ launcher: Peer) {
        module.said.startWasAsked(true)
        // One notification may wake many modules.
        guard !work.hasStarts, event.countStart() <= mostStarts else { return work.add(start: module) }
        orderStart(of: module, launcher)
    }

    private func orderStart(of module: ModuleRecord, _ launcher: Peer) {
        let reason = module.isRequested ? "a request waits for it" : "a notification or an event in its wakes has come"
        order(launcher, "start", module, reason, .wanted(module))
    }

    /// Asks the launcher to start the next modules that are wanted.
    func advanceStarts() {
        for module in work.takeStarts(mostStarts) {
            if let launcher, module.peer == nil, module.isWaitedFor {
                orderStart(of: module, launcher)
            } else {
                module.said.startWasAsked(false)
            }
        }
    }

    /// The requests, notices and events in a batch of those that end, because their modules can't be
    /// waited for any more. A module's all end together.
    static let (sharedAbandoned, abandonedInBatch) = (12, 1_000)

    /// Ends what waits for the next modules that can't be waited for any more.
    func advanceAbandoned() {
        var left = isShared ? Self.sharedAbandoned : Self.abandonedInBatch
        while left > 0, let module = work.takeAbandoned() {
            left -= 1 + module.waitingCount
            // A launcher may have come meanwhile.
            if !mayWait(for: module) { failWaiting(module, unavailable(module)) }
        }
    }

    /// Handles the answer to `launcher/start`.
    func startWasAsked(_ module: ModuleRecord, _ answer: OwnAnswer) {
        module.said.startWasAsked(false)
        // If the launcher has ended, `launcherLeft` ends what waits, in batches.
        guard case .failure(let error) = answer, !module.isReady, launcher?.isOpen == true else { return }
        failWaiting(module, BusError(.unavailable, "\(module.name) could not be started: \(error.message)"))
    }

    /// Ends every request that waits for a module, and drops what woke it.
    func failWaiting(_ module: ModuleRecord, _ error: BusError) {
        // Taken first, because each request would look for itself in the list.
        for call in module.takeWaiting() { fail(call, error) }
        dropHeldNotices(of: module)
        for event in module.takeWaitingEvents() where event.isOpen { fail(event.call, error) }
        while let waiter = module.takeReadyWaiter() { settle(waiter, isReady: false) }
        failWaiting(forReplica: module)
    }

    func unavailable(_ module: ModuleRecord) -> BusError {
        if isElsewhere(module) { return unreachable(module) }
        if module.replicas != nil { return noReplica(of: module) }
        let why: String
        switch module.life {
        case .away(let absence) where absence.process == .failed:
            why =
                "failed\(module.reason.isEmpty ? "" : " (\(module.reason))"): see strata ps, then strata start \(module.name)"
        case .away where !module.history.startFailure.isEmpty:
            why =
                "failed to start: \(module.history.startFailure); requests wait for it again when its next process "
                + "says hello: see strata ps --why \(module.name)"
        case .retired, .ending: why = "is stopping, and no launcher is connected to start it again"
        default:
            why =
                module.start == .manual
                ? "is not running, and is started by hand: start its program, or strata start \(module.name) if its "
                    + "row has run"
                : launcher == nil
                    ? "is not running, and no launcher is connected to start it: run strata up"
                    : "is not running: start it with strata start \(module.name)"
        }
        return BusError(.unavailable, "\(module.name) \(why)")
    }

    // MARK: states

    /// Takes an event that changes a module's visible state.
    func change(_ module: ModuleRecord, _ event: ModuleLife.Event, _ reason: String = "") {
        module.take(event)
        changed(module, reason)
    }

    /// Notes and reports that a module's state has changed.
    func changed(_ module: ModuleRecord, _ reason: String = "") {
        module.history.changed(reason, at: host.wallMicroseconds / 1_000)
        noteForWatches(module)
        noteForNodes(module)
    }

    /// Sends the watches what is known of a row now.
    func noteForWatches(_ module: ModuleRecord) {
        guard module.row != nil, !watches.isEmpty else { return }
        for watch in watches.watches { watch.note(module) }
        feedWatches()
    }
}
