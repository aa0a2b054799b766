import StrataCore

/// `bus/monitor`, which sends operators each frame that passes or is refused.
///
/// The rest of the bus checks `monitors.isOn`, and comes here only if it is true. A monitor's own
/// stream is never noted, so that two monitors don't report each other's frames forever.
extension BusCore {
    /// Handles `monitor {"module"?, "name"?, "bodies"?, "kinds"?, "errors"?, "most"?}`.
    @inline(never)
    func monitor(_ asked: BusCall) throws(BusError) {
        let wanted = try wantedFrames(asked)
        try require(
            monitors.monitors.count < Monitor.most, .overloaded,
            "\(Monitor.most) monitors are open already: end one of them")
        let call = try open(asked)
        // A monitor has no deadline.
        calls.removeDeadline(of: call)
        // The request that opens a monitor isn't noted.
        monitors.isTold()
        monitors.add(of: asked.peer, call, wanted, missed: 0)
    }

    private func wantedFrames(_ asked: BusCall) throws(BusError) -> Monitor.Wanted {
        var wanted = Monitor.Wanted()
        guard !asked.body.isEmpty else { return wanted }
        let reader = try asked.params()
        let module = try reader.string("module")
        let name = try reader.string("name")
        wanted.bodies = try reader.bool("bodies") ?? false
        if let module, !Array(module.utf8).withUnsafeBytes(Name.isModule) {
            throw BusError(
                .badParams,
                "bus/monitor has module \"\(module)\", which can't be a name: give a module's, operator, launcher or "
                    + "bus"
            )
        }
        if let name, !(1...256).contains(name.utf8.count) {
            throw BusError(.badParams, "bus/monitor has a name of \(name.utf8.count) bytes: names have 1 to 256")
        }
        wanted.module = module.map { Array($0.utf8) }
        wanted.name = name.map { Array($0.utf8) }
        wanted.kinds = try wantedKinds(reader)
        wanted.errors = try reader.bool("errors") ?? false
        if let most = try reader.integer("most") {
            try require(
                (1...Self.mostFrames).contains(most), .badParams,
                "bus/monitor has most \(most): give 1 to \(Self.mostFrames) frames a second")
            wanted.most = UInt32(most)
        }
        return wanted
    }

    /// The most frames a second that `most` may ask for.
    private static let mostFrames: Int64 = 100_000

    private func wantedKinds(_ reader: MemberReader) throws(BusError) -> UInt32 {
        var kinds: UInt32 = 0
        for name in try reader.strings("kinds") {
            guard let kind = Monitor.Wanted.kindsShown.first(where: { "\($0.name)" == name }) else {
                let known = Monitor.Wanted.kindsShown.map { "\($0.name)" }
                throw BusError(
                    .badParams,
                    "bus/monitor has the kind \"\(name)\": \(didYouMean(name, known, else: known.joined(separator: ", ")))"
                )
            }
            kinds |= Monitor.Wanted.bit(of: kind)
        }
        return kinds
    }

    /// Ends a request that the bus serves, which may be a monitor.
    @inline(never)
    func endMonitor(_ call: CallPointer) {
        guard let peer = call.pointee.caller?.takeUnretainedValue(), monitors.remove(call) else { return }
        peer.setMonitoring(traffic.hasStreams(of: peer) || monitors.hasMonitors(of: peer))
        guard monitors.isEmpty else { return }
        cancelAlarm(.notes)
        cancelAlarm(.left)
    }
}

/// The way from a frame to the monitors' partial replies. While the frame is handled, a note is
/// kept if some monitor has credit. It is formatted later, in a turn of the monitors' own
/// (`NoteTurns`).
extension BusCore {
    /// Keeps a note of a frame for the monitors that want it. A monitor without credit misses the
    /// frame, and all miss it if there is no room.
    func note(_ frame: borrowing MonitoredFrame) {
        var wanting: UInt16 = 0
        var withBody = false
        monitors.forEach { monitor in
            guard monitor.wants(frame), monitor.isOpen else { return }
            guard monitor.hasCredit else {
                monitor.missed += 1
                return
            }
            if let shares = monitor.shares, !shares.shows(frame, now: now) {
                if !monitors.willTellLeft { planLeft() }
                return
            }
            wanting |= monitor.bit
            if monitor.wanted.bodies { withBody = true }
        }
        guard wanting != 0, let notes = monitors.ring else { return }
        guard !notes.isFull, let place = notes.place(for: frame, withBody: withBody) else {
            monitors.forEach { if wanting & $0.bit != 0 { $0.missed += 1 } }
            return
        }
        monitors.forEach { monitor in
            guard wanting & monitor.bit != 0 else { return }
            monitor.promised += 1
            let left = monitor.shares?.takeLeft() ?? 0
            guard monitor.missed > 0 || left > 0 else { return }
            notes.addGap(monitor.missed, left: left, of: monitor.bit)
            monitor.missed = 0
        }
        notes.add(frame, at: place, for: wanting, time: host.wallMicroseconds)
        if !monitors.turns.isPlanned { follow(monitors.added(now: now)) }
    }

    private func follow(_ action: NoteTurns.Action) {
        // A start needs nothing here, because `hasIdleWork` reports it.
        if case .wait(let time) = action { setAlarm(.notes, after: time) }
    }

    func noteTimePassed() { follow(monitors.timePassed()) }

    /// Formats a batch of the notes if their turn has come.
    func advanceNotes() {
        guard monitors.turns.isUnderWay, let notes = monitors.ring else { return }
        let most = isShared ? NoteTurns.sharedBatch : NoteTurns.batch
        var work = 0
        while work < most, let note = notes.takeFirst() { work += send(note, notes) }
        follow(monitors.worked(work, isEmpty: notes.isEmpty, now: now))
    }

    /// Formats all notes, for callers that must find none.
    func finishNotes() {
        guard let notes = monitors.ring else { return }
        while let note = notes.takeFirst() { _ = send(note, notes) }
    }

    /// Queues the partial replies for a note.
    /// - Returns: the work that this was.
    private func send(_ note: FrameNote, _ notes: NoteRing) -> Int {
        guard !note.isGap else {
            monitors.forEach { monitor in
                guard note.monitors & monitor.bit != 0 else { return }
                monitor.missedBefore += note.id
                monitor.leftBefore = note.parent
            }
            return 0
        }
        // All monitors that it was for may have ended.
        guard note.monitors != 0 else { return 0 }
        let formatter = monitors.formatter()
        let work = formatter.begin(note, notes.texts(of: note))
        let room = Int(frameLimits.frame) - HeaderWriter.overhead
        monitors.forEach { monitor in
            guard note.monitors & monitor.bit != 0 else { return }
            // The reply spends the credit, or frees it if it has no room.
            monitor.promised -= 1
            monitor.peer._withUnsafeGuaranteedRef { send(formatter, room, to: monitor, of: $0) }
        }
        if monitors.hasCancelled { endCancelled() }
        return work
    }

    /// Ends the cancelled monitors that have been sent all that was noted for them.
    @inline(never)
    private func endCancelled() {
        while let call = monitors.nextToEnd, let peer = call.pointee.caller?.takeUnretainedValue() {
            fail(call, .cancelled, Self.cancelled(call.pointee.callerID, by: peer))
        }
    }

    private func send(_ formatter: NoteFormatter, _ room: Int, to monitor: Monitor, of peer: Peer) {
        guard peer.isOpen else { return }
        let (missed, left) = (monitor.missedBefore, monitor.leftBefore)
        monitor.leftBefore = 0
        let body = formatter.reply(missed: missed, left: left, withBody: monitor.wanted.bodies, room: room)
        guard body.count <= room, !peer.isRemote || hasStreamRoom(peer),
            fits(body.count + HeaderWriter.overhead, peer.line)
        else {
            monitor.missedBefore += 1 + left
            return
        }
        monitor.call.pointee.stream.credit -= 1
        monitor.missedBefore = 0
        let id = monitor.call.pointee.callerID
        _ = queue(.reply, to: peer.line, room: 0, body: body, isAnswer: true) { writer in
            writer.integer("id", id)
            writer.boolean("more", true)
            if missed > 0 { writer.integer("missed", missed) }
        }
    }
}
