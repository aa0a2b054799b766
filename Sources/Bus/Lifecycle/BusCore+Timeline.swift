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

    func timelineListing(for peer: Peer) -> Listing.Part {
        var app: [JSON.Member] = [.init("name", .string(table.app))]
        app += [("begun", StartTimes.Mark.spawned), ("ready", .ready)].compactMap { name, mark in
            start.times.wall(mark).map { .init(name, .integer(Int64(clamping: $0))) }
        }
        if let all = start.times.between(.spawned, .ready) {
            app.append(.init("microseconds", .integer(Int64(clamping: all))))
        }
        return Listing.array("modules", of: modules.inStartOrder, first: [.init("app", .object(app))]) {
            [unowned self] module in
            modules.find(module.name) === module ? timeline(of: module, for: peer) : nil
        }
    }

    private static let markNames: [(String, StartTimes.Mark)] = [
        ("spawned", .spawned), ("connected", .connected), ("setUpBegun", .setUpBegun), ("setUpEnded", .setUpEnded),
        ("initializeBegun", .initializeBegun), ("initializeEnded", .initializeEnded), ("ready", .ready),
        ("ended", .ended),
    ]

    private func timeline(of module: ModuleRecord, for peer: Peer) -> JSON {
        var members: [JSON.Member] = [
            .init("name", .string(module.name)), .init("level", .string(levels.names[module.rank])),
            .init("start", module.row.map { .string($0.start.rawValue) } ?? .string("guest")),
            .init("state", .string(module.life.word)),
        ]
        let times = module.history.times
        for (name, mark) in Self.markNames {
            if let at = times.wall(mark) { members.append(.init(name, .integer(Int64(clamping: at)))) }
        }
        if times.isResumed { members.append(.init("resumed", true)) }
        let phases: [(String, UInt64?)] = [
            ("connect", times.between(.spawned, .connected)), ("setUp", times.between(.setUpBegun, .setUpEnded)),
            ("initialize", times.between(.initializeBegun, .initializeEnded)),
            ("all", times.between(times.has(.spawned) ? .spawned : .connected, .ready)),
        ]
        let known = phases.compactMap { name, time in
            time.map { JSON.Member(name, .integer(Int64(clamping: $0))) }
        }
        if !times.isResumed, !known.isEmpty { members.append(.init("microseconds", .object(known))) }
        let reason = module.reason(for: peer)
        if !reason.isEmpty { members.append(.init("reason", .string(reason))) }
        return .object(members)
    }
}
