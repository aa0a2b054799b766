internal import FaultRecord
internal import FaultSystem
internal import Foundation

/// The processes that a run has started, and their descendants.
final class Processes {
    private let places: Places
    private let board: Board
    private let seed: UInt64
    private(set) var launcher: Int32 = 0
    private var guests: [Int32] = []
    private var tools: [Int32] = []

    init(_ places: Places, _ board: Board, seed: UInt64) {
        self.places = places
        self.board = board
        self.seed = seed
        _ = fault_adopt_orphans()
    }

    func startApp(_ strata: String) throws {
        launcher = try start([strata, "up", places.manifest, "--socket", places.socket], output: places.output)
    }

    func startTool() throws { tools.append(try startPeer("operator")) }
    func startGuest() throws { guests.append(try startPeer("guest")) }

    private func startPeer(_ role: String) throws -> Int32 {
        try start([places.programs + "/faults-peer", role], output: places.folder + "/peers.log")
    }

    private func start(_ words: [String], output: String) throws -> Int32 {
        let descriptor = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw RunFailure("\(output) can't be written: errno \(errno)") }
        defer { close(descriptor) }
        let variables = [
            "PATH=/usr/bin:/bin", "HOME=\(places.folder)", "FAULTS_FOLDER=\(places.folder)", "FAULTS_SEED=\(seed)",
            "MEMORY_PRESSURE_WATCH=/dev/null",
        ]
        // The launcher gives its modules the socket itself.
        let socket = words.contains("up") ? [] : ["STRATA_SOCKET=\(places.socket)"]
        let id = withStrings(words) { words in
            withStrings(variables + socket) { fault_launch(words, $0, descriptor) }
        }
        guard id > 0 else { throw RunFailure("\(words[0]) can't be started: errno \(-id)") }
        return id
    }

    private func withStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafePointer<CChar>?] = strings.map { UnsafePointer(strdup($0)) }
        pointers.append(nil)
        defer { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
        return body(pointers)
    }

    // MARK: Who is alive

    /// Returns the newest living process of a role, as its place on the board.
    func newest(_ role: String) -> Board.Place? {
        guard let index = Role.index(of: role) else { return nil }
        var found: Board.Place?
        for number in 1..<UInt32(Board.places) {
            let place = board.place(number)
            if place.pid > 0, place.role == index, isAlive(place.pid) { found = place }
        }
        return found
    }

    /// Returns the numbers of all living processes that write a log.
    func living() -> [UInt32] {
        (1..<UInt32(Board.places)).filter {
            let place = board.place($0)
            return place.pid > 0 && place.pid != getpid() && isAlive(place.pid)
        }
    }

    var broker: Int32? { children(of: launcher).first { name($0) == "strata-broker" } }

    private func isAlive(_ pid: Int32) -> Bool {
        guard let text = text("/proc/\(pid)/stat"),
            let state = text.split(separator: ")").last?.first(where: { $0 != " " })
        else { return false }
        return state != "Z" && state != "X"
    }

    private func name(_ pid: Int32) -> String { text("/proc/\(pid)/comm")?.trimmingCharacters(in: .newlines) ?? "" }

    private func children(of pid: Int32) -> [Int32] {
        (text("/proc/\(pid)/task/\(pid)/children") ?? "").split(separator: " ").compactMap { Int32($0) }
    }

    private func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    // MARK: Their end

    /// The process of the oldest guest.
    var guest: Int32? { guests.first }

    func endGuest() {
        guard let guest = guests.first else { return }
        guests.removeFirst()
        kill(guest, SIGKILL)
        waitpid(guest, nil, 0)
    }

    func endTools() {
        while !guests.isEmpty { endGuest() }
        for tool in tools {
            kill(tool, SIGKILL)
            waitpid(tool, nil, 0)
        }
        tools = []
    }

    func killLauncher() {
        guard launcher > 0 else { return }
        kill(launcher, SIGKILL)
        waitpid(launcher, nil, 0)
        launcher = 0
    }

    /// Whether any process that the run started still exists. Reaps the ended ones.
    func isAnybodyLeft() -> Bool {
        while waitpid(-1, nil, WNOHANG) > 0 {}
        return !children(of: getpid()).isEmpty
    }

    /// Returns the names and ids of the processes that still exist.
    func leftovers() -> [String] { children(of: getpid()).map { "\(name($0)) (\($0))" } }

    /// Kills everything at once.
    func killAll() {
        killLauncher()
        while isAnybodyLeft() {
            for child in children(of: getpid()) {
                kill(child, SIGCONT)
                kill(child, SIGKILL)
            }
            usleep(1_000)  // because grandchildren become children of this process only when their parents have ended
        }
    }
}
