import StrataCore

/// How long modules took to start: what is noted, and `bus/timeline`, which tells it.
extension BusCore {
    /// The time of the present event, on both clocks.
    var moment: StartTimes.Moment { StartTimes.Moment(steady: time / 1_000, wall: host.wallMicroseconds) }

    /// A step of a module's start has happened.
    func note(_ mark: StartTimes.Mark, of module: ModuleRecord) {
        module.history.note(mark, at: moment)
    }

    /// The launcher has started a process: a start begins. It says so again when
    /// it comes back.
    func noteSpawn(at spawnedAt: UInt64, of module: ModuleRecord) {
        guard module.peer == nil, !module.history.times.isOf(spawnedAt: spawnedAt) else { return }
        module.history.take(StartTimes(spawnedAt: spawnedAt, now: moment))
    }

    /// A session began, after its process or without one that the launcher knows.
    func noteHello(of module: ModuleRecord, resumed: Bool) {
        if resumed {
            // It went on: its start is the one that it had.
            if !module.history.times.has(.ready) { module.history.take(StartTimes(resumedAt: moment)) }
            return
        }
        if module.history.times.has(.connected) || module.history.times.has(.ended) {
            // Of its process the launcher may have told while the last session was there.
            let spawnedAt = module.said.vouch?.spawnedAt.flatMap { module.history.times.isOf(spawnedAt: $0) ? nil : $0 }
            module.history.take(spawnedAt.map { StartTimes(spawnedAt: $0, now: moment) } ?? StartTimes())
        }
        note(.connected, of: module)
    }

    /// A process or a session has ended, perhaps before it was ready.
    func noteEnd(of module: ModuleRecord) {
        guard module.history.times.begin != nil, !module.history.times.has(.ready) else { return }
        note(.ended, of: module)
    }

    /// The app's start begins when the launcher comes, and ends when nobody waits
    /// for it any more.
    func noteAppStart(begun: Bool) {
        if begun {
            start.note(.spawned, at: moment)
        } else if start.times.begin != nil {
            start.note(.ready, at: moment)
        }
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
            "start": .string(module.startWord), "state": .string(module.life.word),
            "spawned": at(.spawned), "connected": at(.connected), "setUpBegun": at(.setUpBegun),
            "setUpEnded": at(.setUpEnded), "initializeBegun": at(.initializeBegun),
            "initializeEnded": at(.initializeEnded), "ready": at(.ready), "ended": at(.ended),
            "resumed": times.isResumed ? true : Optional.none,
            "microseconds": times.isResumed || phases == .object([]) ? Optional.none : phases,
            "reason": module.reason(for: peer).json,
        ])
    }
}
