internal import FaultRecord
internal import FaultSystem
internal import Foundation

/// The processes that a run has started, and their descendants.
final class Processes {
    let nodes: [AppNode]
    private let places: Places
    private let board: Board
    private let options: Options
    private var peers: [Int32] = []

    init(_ nodes: [AppNode], _ places: Places, _ board: Board, _ options: Options) {
        (self.nodes, self.places, self.board, self.options) = (nodes, places, board, options)
        _ = fault_adopt_orphans()
    }

    // MARK: Starts

    func startLauncher(of node: AppNode) throws {
        var words = [options.strata, "up", node.manifestPath, "--socket", node.socket]
        if let name = node.name { words += ["--node", name] }
        node.launcher = try start(words, on: node, output: node.output)
    }

    func startTool(on node: AppNode) throws { peers.append(try startPeer("operator", on: node)) }
    func startGuest(on node: AppNode) throws { node.guests.append(try startPeer("guest", on: node)) }

    private func startPeer(_ role: String, on node: AppNode) throws -> Int32 {
        // The launcher gives its modules the socket itself.
        try start(
            [places.programs + "/faults-peer", role], on: node, output: places.file("peers.log"),
            ["STRATA_SOCKET=\(node.socket)"])
    }

    private func start(
        _ words: [String], on node: AppNode, output: String, _ variables: [String] = []
    ) throws -> Int32 {
        try Tools.launch(
            words,
            [
                "PATH=/usr/bin:/bin", "HOME=\(places.folder)", "FAULTS_FOLDER=\(places.folder)",
                "FAULTS_SEED=\(options.seed)", "FAULTS_NODES=\(options.nodes)", "FAULTS_NODE=\(node.index)",
                "MEMORY_PRESSURE_WATCH=/dev/null",
            ] + variables, output: output, network: node.network)
    }

    // MARK: Who is alive

    /// Returns a living process of a role, as its place on the board: the newest one, or if it has
    /// replicas any of them.
    /// - Parameter choice: which of them.
    func target(_ role: String, _ choice: Int = 0) -> Board.Place? {
        guard let index = Role.index(of: role) else { return nil }
        let living = (1..<UInt32(Board.places)).map { board.place($0) }
            .filter { $0.pid > 0 && $0.role == index && ProcessTree.isAlive($0.pid) }
        guard !living.isEmpty, Role.all[Int(index)].replicas != nil else { return living.last }
        return living[choice % living.count]
    }

    /// Returns the numbers of all living processes that write a log.
    func living() -> [UInt32] {
        (1..<UInt32(Board.places)).filter {
            let place = board.place($0)
            return place.pid > 0 && place.pid != getpid() && ProcessTree.isAlive(place.pid)
        }
    }

    func broker(of node: AppNode) -> Int32? { child(of: node, "strata-broker") }
    func link(of node: AppNode) -> Int32? { child(of: node, "strata-link") }

    private func child(of node: AppNode, _ name: String) -> Int32? {
        guard node.launcher > 0 else { return nil }
        return ProcessTree.children(of: node.launcher).first { ProcessTree.name($0) == name }
    }

    /// Returns a node whose launcher has ended, though nobody killed it.
    func nodeThatEnded() -> AppNode? {
        nodes.first { $0.launcher > 0 && waitpid($0.launcher, nil, WNOHANG) == $0.launcher }
    }

    // MARK: Their end

    func endGuest(of node: AppNode) {
        guard let guest = node.guests.first else { return }
        node.guests.removeFirst()
        end(guest)
    }

    func endPeers() {
        for node in nodes { while !node.guests.isEmpty { endGuest(of: node) } }
        for peer in peers { end(peer) }
        peers = []
    }

    private func end(_ pid: Int32) {
        Glibc.kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }

    func killLaunchers() {
        for node in nodes where node.launcher > 0 {
            end(node.launcher)
            node.launcher = 0
        }
    }

    /// Kills a node's launcher, and with `all` everything that runs there, as if the machine had
    /// lost its power.
    func kill(_ node: AppNode, all: Bool) {
        guard node.launcher > 0 else { return }
        // So that it starts nothing meanwhile.
        Glibc.kill(node.launcher, SIGSTOP)
        node.ending = ProcessTree.descendants(of: node.launcher)
        end(node.launcher)
        node.launcher = 0
        if all { for pid in node.ending { Glibc.kill(pid, SIGKILL) } }
    }

    /// Whether all processes of a killed node have ended.
    func hasEnded(_ node: AppNode) -> Bool {
        node.ending.removeAll { !ProcessTree.isAlive($0) }
        return node.ending.isEmpty
    }

    /// Whether any process that the run started still exists. Reaps the ended ones.
    func isAnybodyLeft() -> Bool {
        while waitpid(-1, nil, WNOHANG) > 0 {}
        return !ProcessTree.children(of: getpid()).isEmpty
    }

    /// Returns the names and ids of the processes that still exist.
    func leftovers() -> [String] { ProcessTree.children(of: getpid()).map { "\(ProcessTree.name($0)) (\($0))" } }

    /// Kills everything at once.
    func killAll() {
        killLaunchers()
        while isAnybodyLeft() {
            for child in ProcessTree.children(of: getpid()) {
                Glibc.kill(child, SIGCONT)
                Glibc.kill(child, SIGKILL)
            }
            usleep(1_000)  // because grandchildren become children of this process only when their parents have ended
        }
    }
}
