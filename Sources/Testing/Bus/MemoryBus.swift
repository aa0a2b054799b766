internal import Glibc
internal import StrataBus
internal import StrataCore

/// A bus without sockets, threads or the machine's clock, for tests of what a bus decides.
///
/// It drives a `MemoryBroker`. The peers take turns in the order in which they connected. When
/// nothing else is left to do, time jumps to the next timer. Everything happens on the test's
/// thread, while the test waits. In a `SimulatedBus`, a seed chooses what happens next.
package class MemoryBus {
    final private(set) var broker: MemoryBroker
    private let start = ContinuousClock.now

    /// - Parameter own: the process that all peers belong to.
    init(_ table: AppTable, isLaunched: Bool, own: ProcessIdentity = .own) {
        broker = MemoryBroker(
            table, MemoryProcesses(broker: own), user: geteuid(), awaiting: isLaunched ? own : nil)
    }

    /// The time by the bus's own clock, which advances when nothing else is left to do.
    final var now: ContinuousClock.Instant { start + .nanoseconds(broker.time) }

    func connect(_ label: String) throws -> any PeerLink { MemoryLink(self, try pipe(of: ownPID)) }

    /// Returns the other app's end of the bus's connection with that index.
    final func otherApp(_ index: Int) -> (any PeerLink)? {
        work()
        return index < broker.linked.count ? MemoryLink(self, broker.linked[index].pipe) : nil
    }

    /// Starts another broker, after the first one has ended.
    final func begin(_ table: AppTable) {
        let time = broker.time
        broker = MemoryBroker(table, broker.processes, user: geteuid())
        broker.pass(to: time)
    }

    /// The process that the peers belong to.
    final var ownPID: Int32 { broker.processes.broker.pid }

    /// Opens a new connection from a process.
    final func pipe(of pid: Int32) throws(SystemError) -> MemoryPipe {
        guard broker.isListening else { throw SystemError(ECONNREFUSED, "connect to a bus that has ended") }
        return broker.connect(PeerCredentials(pid: pid, uid: geteuid(), gid: getegid(), seenAt: 0)).pipe
    }

    /// Runs the bus until one of these connections has input, or the deadline is reached.
    /// - Returns: the indices of the connections that can be read.
    func awaitInput(of wanted: [any PeerLink], until deadline: Deadline) throws -> [Int] {
        while true {
            work()
            let ready = wanted.indices.filter { isReadable(wanted[$0]) }
            guard ready.isEmpty, passTime(until: deadline) else { return ready }
        }
    }

    final func isReadable(_ link: any PeerLink) -> Bool { (link as? MemoryLink)?.isReadable == true }

    /// Called when a peer has sent something or has ended its connection.
    func peerActed() { work() }

    final func beginShutDown() { broker.shutDown() }

    /// Runs the bus to its end.
    /// - Returns: false if it hasn't ended in time.
    final func join(within time: Duration) throws -> Bool {
        _ = try awaitInput(of: [], until: Deadline(time, from: now))
        return broker.hasEnded
    }

    /// Does everything that is left to do at this time.
    final func work() {
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
    /// - Returns: false if nothing is due before the deadline; the clock then stands at the
    ///   deadline.
    private func passTime(until deadline: Deadline) -> Bool {
        let end = time(of: deadline)
        guard let due = broker.due, due <= end else {
            broker.pass(to: end)
            return false
        }
        broker.pass(to: due)
        return true
    }

    /// A deadline as nanoseconds of the bus's own clock.
    final func time(of deadline: Deadline) -> UInt64 {
        let (seconds, attoseconds) = (deadline.end - start).components
        // Rounded up, so that the deadline has passed at that time.
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds + 999_999_999) / 1_000_000_000
    }
}

/// A played peer's end of a connection to a `MemoryBus`.
final class MemoryLink: PeerLink {
    private weak var bus: MemoryBus?
    let pipe: MemoryPipe
    private var input = FrameInput()
    private var story: StoryTeller?
    private(set) var isAtEnd = false

    init(_ bus: MemoryBus, _ pipe: MemoryPipe, telling story: StoryTeller? = nil) {
        self.bus = bus
        self.pipe = pipe
        self.story = story
    }

    var isClosed: Bool { pipe.isClosed }
    var unfinished: Int { input.unfinished }

    /// Whether a `read` would bring anything.
    var isReadable: Bool { !isAtEnd && (!pipe.arrived.isEmpty || pipe.isClosedByBroker) }

    func send(_ bytes: [UInt8], until deadline: Deadline) -> Int {
        guard !pipe.isClosed, !pipe.hasEndedWriting, !pipe.isClosedByBroker else { return 0 }
        bytes.withUnsafeBytes { story?.sent($0) }
        pipe.send(bytes)
        bus?.peerActed()
        return bytes.count
    }

    func read() {
        if pipe.arrived.isEmpty, pipe.isClosedByBroker { isAtEnd = true }
        pipe.take {
            story?.received($0)
            input.append($0)
        }
    }

    func nextFrame() throws -> ReceivedFrame? { try input.nextFrame() }

    func endWriting() {
        pipe.endWriting()
        bus?.peerActed()
    }

    func close() {
        pipe.close()
        isAtEnd = true
        bus?.peerActed()
    }
}
