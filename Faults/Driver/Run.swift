internal import FaultPlan
internal import FaultRecord
internal import FaultSystem
internal import Foundation

/// One run: the app starts, is harmed, and ends.
final class Run {
    let options: Options
    let places: Places
    let board: Board
    let log: RecordLog
    let processes: Processes
    let link: OperatorLink
    var manifest: AppManifest
    /// The faults that must be undone later, each with its time in nanoseconds.
    var later: [(at: UInt64, what: () -> Void)] = []
    /// The processes that are halted now.
    var halted: Set<Int32> = []
    /// The results of replacements, and whether the broker can be replaced.
    var replaced = (done: 0, refused: 0)
    var handOvers = (done: 0, refused: 0)
    var canHandOver = true
    /// The longest time that the broker stood still for a replacement, as it reports it, in
    /// microseconds.
    var stoodStill: Int64 = 0
    private(set) var living: Set<UInt32> = []
    /// What went wrong, besides what the logs show.
    private(set) var complaints: [String] = []
    private(set) var loadSeconds = 0.0

    init(_ options: Options) throws {
        self.options = options
        places = try Places()
        board = try Board(path: places.board)
        log = try RecordLog(folder: places.logs, role: Role.index(of: "driver") ?? 0)
        processes = Processes(places, board, seed: options.seed)
        link = try OperatorLink(places.socket)
        manifest = AppManifest(programs: places.programs)
    }

    /// Makes the run.
    /// - Returns: the logs of all processes.
    func run() throws -> [ProcessLog] {
        try places.write(manifest.text, to: places.manifest)
        try processes.startApp(options.strata)
        try waitUntilReady("the app isn't ready", 30)
        try processes.startTool()
        try processes.startTool()
        try processes.startGuest()
        say("all modules are ready; the load begins")
        let begun = Record.now
        try doHarm(begun)
        try settle()
        loadSeconds = Double(Record.now - begun) / 1_000_000_000
        try drain()
        try endByDeath()
        return try ProcessLog.all(in: places.logs)
    }

    /// Removes everything that the run has made.
    func cleanUp() {
        for pid in halted { kill(pid, SIGCONT) }
        link.close()
        processes.endTools()
        processes.killAll()
        places.remove(keeping: options.kept)
    }

    func say(_ line: String) {
        if !options.isQuiet { FaultConsole.complain(line) }
    }

    // MARK: Its parts

    private func doHarm(_ begun: UInt64) throws {
        for fault in Plan(seed: options.seed, seconds: options.seconds).faults {
            try wait(until: begun + UInt64(fault.at) * 1_000_000)
            try inflict(fault)
        }
        try wait(until: begun + UInt64(options.seconds) * 1_000_000_000)
    }

    private func wait(until time: UInt64) throws {
        repeat {
            try Interruption.check()
            guard kill(processes.launcher, 0) == 0, !hasLauncherEnded() else {
                throw RunFailure("the launcher has ended:\n" + places.outputLines(20).joined(separator: "\n"))
            }
            link.poll(2)
            undo(Record.now)
        } while Record.now < time
    }

    private func hasLauncherEnded() -> Bool { waitpid(processes.launcher, nil, WNOHANG) == processes.launcher }

    /// Undoes the faults whose time is over.
    private func undo(_ now: UInt64) {
        let due = later.filter { $0.at <= now }
        later.removeAll { $0.at <= now }
        for item in due { item.what() }
    }

    /// Ends all harm, and waits until all modules are ready again.
    private func settle() throws {
        undo(.max)
        try waitUntilReady("the app didn't come to rest", 30)
    }

    private func waitUntilReady(_ problem: String, _ seconds: UInt64) throws {
        let expected = Role.rows.filter { $0.start != .onDemand }.map(\.name)
        let limit = Record.now + seconds * 1_000_000_000
        while true {
            try Interruption.check()
            let states = link.states()
            let missing = expected.filter { states[$0] != "ready" }
            if missing.isEmpty { return }
            guard Record.now < limit else {
                let list = missing.map { "\($0) is \(states[$0] ?? "unknown")" }.joined(separator: ", ")
                throw RunFailure("\(problem): \(list)\n" + places.outputLines(30).joined(separator: "\n"))
            }
            usleep(20_000)  // because the operator asks for the states again and again
        }
    }

    /// Stops new requests. Waits until all open ones have ended, and until everything on its way
    /// has arrived.
    private func drain() throws {
        for phase in [Board.Phase.stop, .drain] {
            board.phase = phase
            let limit = Record.now + 30_000_000_000
            while true {
                try Interruption.check()
                let late = processes.living().filter { board.place($0).done < phase.rawValue }
                if late.isEmpty { break }
                guard Record.now < limit else {
                    for number in late {
                        let place = board.place(number)
                        complaints.append(
                            "\(Role.all[Int(place.role)].name) (process \(number)) has \(place.open) requests open "
                                + "30 s after the last one, or can't reach the bus")
                    }
                    break
                }
                link.poll(5)
            }
        }
        living = Set(processes.living())
    }

    /// Kills the launcher, and checks that everything else ends by itself.
    private func endByDeath() throws {
        link.close()
        processes.endTools()
        let killed = Record.now
        log.write(Record(.fault, kind: FaultKind.killLauncher.rawValue, extra: UInt32(processes.launcher)))
        processes.killLauncher()
        // This polls, because the app's processes are not this process's children.
        while processes.isAnybodyLeft(), Record.now < killed + 12_000_000_000 { usleep(2_000) }
        for name in processes.leftovers() { complaints.append("\(name) outlives the launcher by more than 12 s") }
        if fault_listens(places.socket) == 1 { complaints.append("somebody listens at the socket still") }
        say("the launcher was killed, and all had ended after \((Record.now - killed) / 1_000_000) ms")
    }
}
