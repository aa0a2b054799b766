import StrataCore

/// The actions that only the launcher may call, and the calls that it serves.
extension BusCore {
    /// Handles `vouch {"module", "token", "pid", "startTicks"?, "pending"?, "byHand"?,
    /// "spawnedAt"?, "restarts"?}`, which replaces an earlier vouch. `startTicks` distinguishes the
    /// process from others that have had its number. `pending` are keys of the row that take effect
    /// at the next process's start. `byHand` says that a person had this process started. With
    /// `pid` 0, which needs no token, no process is the module any more.
    func vouch(_ call: BusCall) throws(BusError) -> JSON {
        let reader = try call.params()
        if try reader.bool("link") == true { return try vouchForLink(reader) }
        let module = try row(reader)
        guard let number = try reader.integer("pid"), let pid = Int32(exactly: number), pid >= 0 else {
            throw BusError(.badParams, "bus/vouch lacks \"pid\", a process's number, or 0 for none")
        }
        if pid == 0 {
            takeBack(module)
            return .object([])
        }
        let token = try reader.required("token")
        try takeRestarts(of: module, reader)
        let process = try process(pid, reader)
        module.said.take(pending: try reader.strings("pending"))
        let old = module.said.vouch
        let isByHand = try reader.bool("byHand") ?? false
        module.said.take(
            // A repeated vouch for the same process is no new start by hand.
            LauncherWord.Vouch(
                token: token, process: process, isByHand: old?.process == process ? old?.isByHand == true : isByHand,
                spawnedAt: try Self.time(reader, "spawnedAt")))
        if let successor = module.successor, successor.peer.vouched != process {
            end(successor.peer, .shuttingDown, "the launcher vouches for process \(pid) as \(module.name) now")
        }
        // A process that was to take over may have been given up in favor of the one that serves.
        if let peer = module.peer, let former = peer.vouched, former != process, module.row?.replace != .overlap {
            end(
                peer, .shuttingDown,
                "the launcher started \(module.name) anew as process \(pid): this one, \(peer.credentials.pid), ends")
        }
        // A repeated vouch changes nothing for the hellos that wait.
        if let old, old.process == process, old.token == token { return .object([]) }
        for peer in module.awaitingVouch.compactMap({ connections[$0] }) { vouched(module, process, for: peer) }
        return .object([])
    }

    /// Takes the launcher's count of restarts, which spans all brokers' lives.
    private func takeRestarts(of module: ModuleRecord, _ reader: MemberReader) throws(BusError) {
        guard let restarts = try reader.integer("restarts"), restarts >= 0 else { return }
        module.history.take(restarts: Int(restarts))
    }

    /// Withdraws the vouch for a module, and ends its sessions.
    private func takeBack(_ module: ModuleRecord) {
        module.said.take(nil)
        let error = BusError(.shuttingDown, "the launcher took the place of \(module.name) back: this process ends")
        if let successor = module.successor { end(successor.peer, error) }
        if let peer = module.peer { end(peer, error) }
    }

    /// Returns the process that a vouch is for. Without `startTicks` it is the one that has the
    /// number now.
    func process(_ pid: Int32, _ reader: MemberReader) throws(BusError) -> ProcessIdentity {
        guard let ticks = try reader.integer("startTicks") else { return host.process(pid) ?? .ended(pid) }
        try require(ticks >= 0, .badParams, "bus/vouch has \"startTicks\" \(ticks): say field 22 of /proc/\(pid)/stat")
        return ProcessIdentity(pid: pid, startTicks: UInt64(ticks))
    }

    /// Judges the hello of a waiting peer again, now that there is a vouch.
    private func vouched(_ module: ModuleRecord, _ process: ProcessIdentity, for peer: Peer) {
        guard isOf(peer, process) else {
            return end(peer, isNotVouched(peer, module, process), id: peer.greeting.helloID)
        }
        judgeAgain(peer)
    }

    /// Handles `retire {"module"}`, which is answered when the module's tearDown is done.
    func retire(_ asked: BusCall) throws(BusError) {
        let module = try row(try asked.params())
        guard let retired = module.peer else {
            throw BusError(.unavailable, "\(module.name) isn't running, so it can't be retired")
        }
        if module.isRetired { return writeReply(asked.peer, id: asked.id) }
        let call = try open(asked)
        // tearDown has a time limit of its own.
        calls.disarm(call)
        call.pointee.stream.wasPassedOn = true
        retire(module, retired, .asked(CallReference(call)))
    }

    /// Retires a module: new requests wait, and the module tears down, for which it has its row's
    /// `stop`.
    func retire(_ module: ModuleRecord, _ peer: Peer, _ retirement: OwnPurpose.Retirement) {
        let isIdle = if case .idle = retirement { true } else { false }
        // Earlier broadcasts belong to this session, and what wakes the module to the next one.
        if module.row?.wakes.isEmpty == false { finishFanOut() }
        endSuccessor(of: module, "\(module.name) was stopped before it took over")
        // Ending the successor may have ended this session too.
        guard module.peer === peer, peer.isOpen else { return retired(module, peer, retirement) }
        change(module, .wasRetired(isIdle: isIdle))
        leaveReplicas(module)
        stopCatchingUp(module)
        updateMailbox(module)
        askToTearDown(peer, .retirement(module, retirement))
    }

    /// Continues after the tearDown of a retired module: it was answered, took too long, or its
    /// session ended.
    func retired(_ module: ModuleRecord, _ peer: Peer, _ retirement: OwnPurpose.Retirement) {
        switch retirement {
        case .asked(let asking):
            if asking.isOpen { answer(asking.call, JSON.object([]).encoded(), "the module was retired") }
        case .idle(let idle): stopIdle(module, peer, idle)
        case .removed:
            end(peer, .shuttingDown, "the row of \(module.name) was removed from the manifest")
        }
    }

    /// Handles `moduleState {"module", "state", "reason"?, "lines"?, "spawnedAt"?, "restarts"?,
    /// "exit"?, "asked"?}`.
    func moduleState(_ call: BusCall) throws(BusError) -> JSON {
        let reader = try call.params()
        let module = try row(reader)
        let word = try reader.required("state")
        let reason = try reader.string("reason") ?? ""
        let lines = try reader.strings("lines")
        let spawnedAt = try Self.time(reader, "spawnedAt")
        let wasAsked = try reader.bool("asked") ?? false
        guard let verdict = LauncherWord.Verdict(word), let process = verdict.process else {
            throw BusError(
                .badParams, "bus/moduleState has state \"\(word)\": use starting, restarting, failed or absent")
        }
        // The stop of an earlier process no longer matters.
        if process == .starting { module.take(.stopIsOver) }
        // A module may reach a new broker before the launcher has said that its process runs already.
        // Kept, the word would make its later death a failed start.
        let isLate = process == .starting && isVouched(module)
        if !isLate { module.said.take(verdict, reason, lines: lines) }
        try takeRestarts(of: module, reader)
        if process != .starting { endVouched(module, "is \(word)\(reason.isEmpty ? "" : " (\(reason))")") }
        if let spawnedAt, process == .starting { noteSpawn(at: spawnedAt, of: module) }
        if module.peer == nil {
            if process != .starting { noteEnd(of: module) }
            let hasFailed = !wasAsked && saysThatStartFailed(process, module)
            if hasFailed {
                startFailed(module, reason.isEmpty ? "its process ended before it was ready" : reason)
            }
            change(module, .processIs(process), module.withDeath(reason))
            if process == .failed || process == .absent { launcherGaveUp(module) }
            if hasFailed, !canBeWaitedFor(module) { failWaiting(module, unavailable(module)) }
            turnMayHaveChanged()
        }
        return .object([])
    }

    /// Whether the serving session belongs to the process that the launcher vouches for.
    private func isVouched(_ module: ModuleRecord) -> Bool {
        guard let vouched = module.peer?.vouched else { return false }
        return vouched == module.said.vouch?.process
    }

    /// Ends what rested on a vouch, because the launcher no longer has a process of the module.
    /// What the process wrote last is handled first. Its session may still be open, if a process
    /// that it started holds the connection.
    private func endVouched(_ module: ModuleRecord, _ word: String) {
        module.said.take(nil)
        if let successor = module.successor?.peer { end(successor, isOver(successor, module, word)) }
        guard let peer = module.peer, peer.vouched != nil else { return }
        end(peer, onceHeardOut: isOver(peer, module, word))
    }

    private func isOver(_ peer: Peer, _ module: ModuleRecord, _ word: String) -> BusError {
        BusError(
            .shuttingDown,
            "the launcher says that \(module.name) \(word): what its process \(peer.vouched?.pid ?? 0) has started "
                + "ends too")
    }

    /// Continues after the launcher said `failed` or `absent` and the session has ended, in either
    /// order.
    func launcherGaveUp(_ module: ModuleRecord) {
        // Without a required row the app ends, and meanwhile no other row goes on.
        if module.said.verdict != .failed || module.row?.required != true { start.leave(module.number) }
        module.history.forgetStartFailure()
        if isToStartAgain(module) {
            // The launcher's report was about the process that was stopped.
            startAgain(module)
            module.take(.stopIsOver)
            return
        }
        let reason = module.reason.isEmpty ? "" : ": \(module.reason)"
        failWaiting(module, BusError(.unavailable, "\(module.name) is \(module.life.word)\(reason)"))
    }

    /// Reads microseconds since 1970; nil if the member is missing or 0.
    private static func time(_ reader: MemberReader, _ name: String) throws(BusError) -> UInt64? {
        guard let time = try reader.integer(name), time > 0 else { return nil }
        return UInt64(time)
    }

    /// Returns the row that the launcher refers to.
    private func row(_ params: MemberReader) throws(BusError) -> ModuleRecord {
        let name = try params.required("module")
        // A row that has replicas now may still have the process that it had before.
        let module = modules.find(name).flatMap { found in
            found.replicas == nil ? found : modules.rows.first { $0.name == name }
        }
        guard let module, module.row != nil else {
            throw BusError(.unknownModule, "no row of the manifest is named \(name)")
        }
        return module
    }

    /// Forwards a module's call to `launcher/…` if it is about a row that the module manages.
    func managingCall(
        _ action: String, hasInstance: Bool, _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        from peer: Peer
    ) throws(BusError) {
        let (name, manages) = (peer.displayName, peer.module?.row?.manages ?? [])
        try require(
            AppTable.Row.managing.contains(action), .forbidden,
            "launcher/\(action) is for operators: \(name) may start, stop and restart \(manages.joined(separator: ", "))"
        )
        let target = try MemberReader(body: body, of: "launcher/\(action)").required("module")
        guard let module = modules.find(target), manages.contains(ReplicaName.row(of: target)) else {
            throw BusError(
                .forbidden,
                "\(name) wants to \(action) \(target), and its row manages \(manages.joined(separator: ", ")): add it there"
            )
        }
        // Its start would wait for the other one's.
        if action != "stop" {
            var facts = LiveFacts(core: self, kind: .call, peer: peer, owner: module)
            facts.startStep = startStep(header, of: peer)
            try facts.check(.start ... .start)
        }
        try launcherCall(action, hasInstance: hasInstance, header, body, from: peer)
    }

    /// Forwards a call to `launcher/…`, which the launcher serves for operators.
    func launcherCall(
        _ action: String, hasInstance: Bool, _ header: borrowing Header, _ body: UnsafeRawBufferPointer,
        from peer: Peer
    ) throws(BusError) {
        let uid = peer.credentials.uid
        try require(
            action != "lend" || !peer.isRemote, .forbidden, "a module is run by hand on its own node only")
        try require(
            action != "lend" || mayLaunch(uid), .forbidden,
            "user \(uid) can't run a module by hand: only the broker's user (\(user)) and root can")
        guard let launcher else {
            throw BusError(.unavailable, "no launcher is connected to this broker: run strata up or strata launch")
        }
        if hasInstance { throw noInstances("launcher") }
        let call = try openRequest(.call, header, from: peer)
        let name = "launcher/\(action)"
        call.pointee.action = routes.actionNames.number(of: name)
        let to = Array(name.utf8)
        to.withUnsafeBytes { to in
            deliver(call, Request(to: to, trace: header.trace, meta: header.meta, body: body), to: launcher)
        }
    }
}
