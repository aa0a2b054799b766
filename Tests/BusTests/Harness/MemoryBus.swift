import Glibc
import StrataCore
import StrataTesting

@testable import StrataBus

/// A bus without sockets, threads and the machine's clock: for tests that ask what it decides.
///
/// It drives a `MemoryBroker`: peers have a turn each in the order in which they connected, and
/// time passes at once where nothing else is left to happen.
final class MemoryBus: BusInMemory {
    /// Runs a test on such a bus, as `TestBus.run` runs it on a broker.
    ///
    /// Where brokers are replaced after each round (`STRATA_TEST_HANDOVER`) it runs on one:
    /// so each of these tests passes over sockets too, and through their hand-over.
    @discardableResult
    static func run<Result>(
        _ table: AppTable, isLaunched: Bool = false, _ test: (TestBus) throws -> Result
    ) throws -> Result {
        if TestBus.isHandedOverEachRound { return try TestBus.run(table, isLaunched: isLaunched, test) }
        return try TestBus(table, MemoryBus(table, isLaunched: isLaunched)).run(test)
    }

    private let broker: MemoryBroker
    private let start = ContinuousClock.now

    /// All peers are this process.
    init(_ table: AppTable, isLaunched: Bool) {
        let own = ProcessIdentity.own
        broker = MemoryBroker(
            table, MemoryProcesses(broker: own), user: geteuid(), awaiting: isLaunched ? own : nil)
    }

    var now: ContinuousClock.Instant { start + .nanoseconds(broker.time) }

    func connect() throws -> any PeerLink {
        guard broker.isListening else { throw SystemError(ECONNREFUSED, "connect to a bus that has ended") }
        let credentials = PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid(), seenAt: 0)
        return MemoryLink(self, broker.connect(credentials).pipe)
    }

    func awaitInput(of wanted: [any PeerLink], until deadline: Deadline) -> [Int] {
        while true {
            work()
            let ready = wanted.indices.filter { (wanted[$0] as? MemoryLink)?.isReadable == true }
            guard ready.isEmpty, passTime(until: deadline) else { return ready }
        }
    }

    func beginShutDown() { broker.shutDown() }

    func join(within time: Duration) -> Bool {
        _ = awaitInput(of: [], until: Deadline(time, from: now))
        return broker.hasEnded
    }

    /// Does all that is left to do at this time: what a peer has sent is handled at once.
    func work() {
        guard !broker.hasEnded else { return }
        while doRound() {}
    }

    /// - Returns: whether anything was left to do.
    private func doRound() -> Bool {
        var hasWorked = false
        for connection in broker.connections {
            if broker.writeOn(connection) { hasWorked = true }
            if broker.takeTurn(connection) { hasWorked = true }
        }
        if broker.advanceIdleWork() { hasWorked = true }
        return broker.endRound() || hasWorked
    }

    /// Lets time pass until the bus has something due.
    /// - Returns: false where it has nothing before the deadline; then it is that late now.
    private func passTime(until deadline: Deadline) -> Bool {
        let end = UInt64((deadline.end - start) / .nanoseconds(1))
        guard let due = broker.due, due <= end else {
            broker.pass(to: end)
            return false
        }
        broker.pass(to: due)
        return true
    }

    // MARK: Being replaced

    /// All that the bus knows, in a state's file, as a broker writes it that is replaced.
    func writtenDown() throws -> [UInt8] {
        work()
        let files = try StateFile.write(broker.capture())
        defer { files.close() }
        precondition(files.queues < 0, "what waits is small in these tests")
        var bytes = [UInt8](repeating: 0, count: Int(lseek(files.state, 0, SEEK_END)))
        guard pread(files.state, &bytes, bytes.count, 0) == bytes.count else {
            throw SystemError(errno, "read a state")
        }
        return bytes
    }

    /// Goes on as a bus of which a state tells, with the connections that there are.
    func resume(_ bytes: [UInt8]) throws {
        let file = try MemoryFile.makeSealable("test")
        defer { Glibc.close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw SystemError(errno, "write a state") }
        try MemoryFile.seal(file)
        try broker.resume(try StateFile.read(file))
        work()
    }
}
