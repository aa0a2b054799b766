internal import FaultPlan
internal import FaultRecord
internal import FaultSystem
internal import Foundation
internal import StrataOperator

/// One run: the app starts, is harmed, and ends.
final class Run {
    let options: Options
    let placement: RolePlacement
    let places: Places
    let board: Board
    let log: RecordLog
    let tools: Tools
    /// The networks of the nodes; nil if they share the machine's.
    let networks: Networks?
    /// Why there are no networks; nil if there are, or if none are needed.
    private(set) var networkProblem: String?
    let server: NATSProcess?
    let nodes: [AppNode]
    let processes: Processes
    /// The faults that must be undone later, each with its time in nanoseconds.
    var later: [(at: UInt64, what: () throws -> Void)] = []
    /// The processes that are halted now.
    var halted: Set<Int32> = []
    /// The results of replacements.
    var replaced = (done: 0, refused: 0)
    var handOvers = (done: 0, refused: 0)
    var scaled = (done: 0, refused: 0)
    /// The longest time that the broker stood still for a replacement, as it reports it, in
    /// microseconds.
    var stoodStill: Int64 = 0
    private(set) var living: Set<UInt32> = []
    /// What went wrong, besides what the logs show.
    var complaints: [String] = []
    private(set) var loadSeconds = 0.0

    init(_ options: Options, _ places: Places) throws {
        self.options = options
        self.places = places
        let placement = RolePlacement(nodes: options.nodes)
        self.placement = placement
        board = try Board(path: places.board)
        log = try RecordLog(folder: places.logs, role: Role.index(of: "driver") ?? 0, node: 0)
        tools = Tools(places)
        var networks: Networks?
        if placement.hasNodes {
            do { networks = try Networks(options.nodes, tools) } catch { networkProblem = "\(error)" }
        }
        self.networks = networks
        let server = placement.hasNodes ? try NATSProcess(places, networks) : nil
        self.server = server
        nodes = try placement.nodes.map { try AppNode($0, places, placement, server, networks) }
        processes = Processes(nodes, places, board, options)
    }

    /// Makes the run.
    /// - Returns: the logs of all processes.
    func run() throws -> [ProcessLog] {
        for node in nodes { try places.write(node.manifest.text, to: node.manifestPath) }
        try server?.begin(tools, strata: options.strata, manifest: nodes[0].manifestPath, placement)
        if !placement.hasNodes { board.phase = .load }
        for node in nodes { try processes.startLauncher(of: node) }
        try waitUntilReady("the app isn't ready", 30)
        if !placement.hasNodes { try processes.startTool(on: nodes[0]) }
        for node in nodes {
            try processes.startTool(on: node)
            try processes.startGuest(on: node)
        }
        board.phase = .load
        say("all modules are ready; the load begins")
        let begun = Record.now
        try doHarm(begun)
        try settle()
        loadSeconds = Double(Record.now - begun) / 1_000_000_000
        try drain()
        try findLeaks()
        try endByDeath()
        return try ProcessLog.all(in: places.logs)
    }

    /// Removes everything that the run has made.
    func cleanUp() {
        for pid in halted { kill(pid, SIGCONT) }
        for node in nodes { node.link.close() }
        processes.endPeers()
        server?.kill()
        processes.killAll()
        places.remove(keeping: options.kept)
    }

    func say(_ line: String) {
        if !options.isQuiet { FaultConsole.complain(line) }
    }

    /// Returns the lines of the app's output that contain these words.
    func output(saying words: String) -> [String] {
        nodes.flatMap { places.lines(of: $0.output, .max) }.filter { $0.contains(words) }
    }

    // MARK: Its parts

    private func doHarm(_ begun: UInt64) throws {
        let plan = Plan(
            seed: options.seed, seconds: options.seconds, nodes: options.nodes, hasCables: networks != nil)
        for fault in plan.faults {
            try wait(until: begun + UInt64(fault.at) * 1_000_000)
            try inflict(fault)
        }
        try wait(until: begun + UInt64(options.seconds) * 1_000_000_000)
    }

    private func wait(until time: UInt64) throws {
        repeat {
            try Interruption.check()
            try server?.check()
            if let node = processes.nodeThatEnded() {
                throw RunFailure(
                    "the launcher\(node.place) has ended:\n" + places.lines(of: node.output, 20).joined(separator: "\n")
                )
            }
            for node in nodes { node.link.poll(placement.hasNodes ? 1 : 2) }
            try undo(Record.now)
        } while Record.now < time
    }

    /// Undoes the faults whose time is over.
    private func undo(_ now: UInt64) throws {
        let due = later.filter { $0.at <= now }
        later.removeAll { $0.at <= now }
        for item in due { try item.what() }
    }

    /// Ends all harm, and waits until all modules are ready again.
    private func settle() throws {
        // Some of it takes several attempts.
        while !later.isEmpty {
            try undo(.max)
            try wait(until: Record.now + 50_000_000)
        }
        try waitUntilReady("the app didn't come to rest", 40)
    }

    /// Waits until each node sees all modules as ready. It sees those of a node that isn't connected
    /// as unreachable.
    private func waitUntilReady(_ problem: String, _ seconds: UInt64) throws {
        let expected = Role.rows.filter { $0.start != .onDemand }.map(\.name)
        let limit = Record.now + seconds * 1_000_000_000
        for node in nodes {
            while true {
                try Interruption.check()
                let states = node.link.states()
                let missing = expected.filter { name in
                    let replicas = states.filter { $0.key.hasPrefix(name + "~") }.values
                    return states[name] != "ready" && (replicas.isEmpty || replicas.contains { $0 != "ready" })
                }
                if missing.isEmpty { break }
                guard Record.now < limit else {
                    let list = missing.map { "\($0) is \(states[$0] ?? "unknown")" }.joined(separator: ", ")
                    let output = places.lines(of: node.output, 30).joined(separator: "\n")
                    throw RunFailure("\(problem)\(node.place): \(list)\n\(output)")
                }
                usleep(20_000)  // because the operator asks for the states again and again
            }
        }
    }

    /// Stops new requests. Waits until all open ones have ended, and until everything on its way
    /// has arrived.
    private func drain() throws {
        try pass(.stop)
        try crossAll()
        try pass(.drain)
        living = Set(processes.living())
    }

    private func pass(_ phase: Board.Phase) throws {
        board.phase = phase
        let limit = Record.now + 30_000_000_000
        while true {
            try Interruption.check()
            let late = processes.living().filter { board.place($0).done < phase.rawValue }
            if late.isEmpty { return }
            guard Record.now < limit else {
                for number in late {
                    let place = board.place(number)
                    complaints.append(
                        "\(Role.all[Int(place.role)].name) (process \(number)) has \(place.open) requests open "
                            + "30 s after the last one, or can't reach the bus")
                }
                return
            }
            for node in nodes { node.link.poll(2) }
        }
    }

    /// Looks for files of requests that a process still has open, although all requests have ended.
    private func findLeaks() throws {
        let limit = Record.now + 5_000_000_000
        for process in nodes.flatMap({ ProcessTree.descendants(of: $0.launcher) }) {
            while true {
                try Interruption.check()
                let open = ProcessTree.openFiles(of: process).filter {
                    $0.contains("/number-") || $0.contains("/memfd:strata-body")
                }
                if open.isEmpty { break }
                guard Record.now < limit else {
                    complaints.append(
                        "\(ProcessTree.name(process)) (\(process)) has \(open.count) files of requests open after all "
                            + "requests have ended")
                    break
                }
                for node in nodes { node.link.poll(2) }
            }
        }
    }

    /// Makes a request from each node to each other one. It comes after everything that was sent
    /// there before, so that all of that has arrived when it is answered.
    private func crossAll() throws {
        for node in nodes {
            for other in nodes where other !== node {
                guard let role = Role.rows.first(where: { placement.homes(of: $0) == [other.index] }) else { continue }
                var answer: Result<JSON, ClientError>?
                node.link.send("\(role.name)/echo", ["n": 0]) { answer = $0 }
                while answer == nil {
                    try Interruption.check()
                    node.link.poll(5)
                }
                if case .failure(let error) = answer {
                    complaints.append("\(role.name)\(other.place) can't be called\(node.place) at the end: \(error)")
                }
            }
        }
    }

    /// Kills the launcher, and checks that everything else ends by itself.
    private func endByDeath() throws {
        for node in nodes { node.link.close() }
        processes.endPeers()
        let killed = Record.now
        for node in nodes {
            log.write(
                Record(
                    .fault, kind: FaultKind.killLauncher.rawValue, code: node.index, extra: UInt32(node.launcher),
                    time: killed))
        }
        processes.killLaunchers()
        server?.kill()
        // This polls, because the app's processes are not this process's children.
        while processes.isAnybodyLeft(), Record.now < killed + 12_000_000_000 { usleep(2_000) }
        for name in processes.leftovers() { complaints.append("\(name) outlives the launcher by more than 12 s") }
        for node in nodes where fault_listens(node.socket) == 1 {
            complaints.append("somebody listens at the socket\(node.place) still")
        }
        say("the launcher was killed, and all had ended after \((Record.now - killed) / 1_000_000) ms")
    }
}
