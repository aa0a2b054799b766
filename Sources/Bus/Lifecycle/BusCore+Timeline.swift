import StrataCore

/// The times of modules' starts: how they are noted, and `bus/timeline`, which lists them.
extension BusCore {
    /// The time now, on both clocks. Both are read here: with the event's time as the steady one, a start that the
    /// launcher reports would begin as much too late as the broker has waited for a CPU since the event began.
    var moment: StartTimes.Moment {
        StartTimes.Moment(steady: host.steadyNanoseconds / 1_000, wall: host.wallMicroseconds)
    }

    /// Notes a step of a module's start.
    func note(_ mark: StartTimes.Mark, of module: ModuleRecord) {
        module.history.note(mark, at: moment)
    }

    /// Begins a start, because the launcher has started a process. The launcher reports it again
    /// when it reconnects.
    func noteSpawn(at spawnedAt: UInt64, of module: ModuleRecord) {
        guard module.peer == nil, !module.history.times.isOf(spawnedAt: spawnedAt) else { return }
        module.history.take(StartTimes(spawnedAt: spawnedAt, now: moment))
    }

    /// Notes the hello of a session, whose process the launcher may or may not know.
    func noteHello(of module: ModuleRecord, resumed: Bool) {
        if resumed {
            // A session that resumed keeps the times of its start.
            if !module.history.times.has(.ready) { module.history.take(StartTimes(resumedAt: moment)) }
            return
        }
        if module.history.times.has(.connected) || module.history.times.has(.ended) {
            // The launcher may have reported the process while the last session was still open.
            let spawnedAt = module.said.vouch?.spawnedAt.flatMap { module.history.times.isOf(spawnedAt: $0) ? nil : $0 }
            module.history.take(spawnedAt.map { StartTimes(spawnedAt: $0, now: moment) } ?? StartTimes())
        }
        note(.connected, of: module)
    }

    /// Notes that a process or a session has ended, if that was before it was ready.
    func noteEnd(of module: ModuleRecord) {
        guard module.history.times.begin != nil, !module.history.times.has(.ready) else { return }
        note(.ended, of: module)
    }

    /// Notes the app's start, which begins when the launcher connects. It ends when no module waits
    /// for a turn any more.
    func noteAppStart(begun: Bool) {
        if begun {
            start.note(.spawned, at: moment)
        } else if start.times.begin != nil {
            start.note(.ready, at: moment)
        }
    }

    // MARK: bus/mark

    /// Handles `mark {"name"}`: notes the time of a point that the module names.
    func mark(_ call: BusCall) throws(BusError) -> JSON {
        let module = call.module
        try onlyStaying(call.peer, module)
        let name = try call.params().required("name")
        try require(
            (1...256).contains(name.utf8.count), .badParams,
            "bus/mark has a name of \(name.utf8.count) bytes: names have 1 to 256")
        // Under `replace: overlap` the next process has times of its own until it takes over.
        let isNoted =
            if let successor = module.successor, successor.peer === call.peer {
                successor.note(own: name, at: moment)
            } else {
                module.history.note(own: name, at: moment)
            }
        try require(
            isNoted, .overloaded,
            "\(module.name) has made \(StartTimes.mostOwnMarks) marks since its start, and no more are kept")
        return .object([])
    }

    // MARK: bus/timeline

    func timelineListing(_ call: BusCall) -> Listing.Part {
        let peer = call.peer
        let app: JSON = .present([
            "name": .string(table.app), "begun": start.times.wall(.spawned).map { JSON($0) },
            "ready": start.times.wall(.ready).map { JSON($0) },
            "microseconds": start.times.between(.spawned, .ready).map { JSON($0) },
        ])
        return Listing.array("modules", of: modules.inStartOrder, first: [.init("app", app)]) {
            [unowned self] module in
            modules.find(module.name) === module ? timeline(of: module, for: peer) : nil
        }
    }

    private func timeline(of module: ModuleRecord, for peer: Peer) -> JSON {
        let times = module.history.times
        func at(_ mark: StartTimes.Mark) -> JSON? { times.wall(mark).map { JSON($0) } }
        func between(_ one: StartTimes.Mark, _ other: StartTimes.Mark) -> JSON? {
            times.between(one, other).map { JSON($0) }
        }
        let phases: JSON = .present([
            "connect": between(.spawned, .connected), "setUp": between(.setUpBegun, .setUpEnded),
            "initialize": between(.initializeBegun, .initializeEnded),
            "all": between(times.has(.spawned) ? .spawned : .connected, .ready),
        ])
        return .present([
            "name": .string(module.name), "level": .string(levels.names[module.rank]),
            "start": .string(module.startWord), "state": .string(stateWord(of: module)),
            "spawned": at(.spawned), "connected": at(.connected), "setUpBegun": at(.setUpBegun),
            "setUpEnded": at(.setUpEnded), "initializeBegun": at(.initializeBegun),
            "initializeEnded": at(.initializeEnded), "ready": at(.ready), "ended": at(.ended),
            "resumed": times.isResumed ? true : Optional.none,
            "marks": times.ownMarks.isEmpty
                ? Optional.none
                : .array(times.ownMarks.map { ["name": .string($0.name), "at": JSON(times.wall($0))] }),
            "microseconds": times.isResumed || phases == .object([]) ? Optional.none : phases,
            "reason": module.reason(for: peer).json,
        ])
    }
}
