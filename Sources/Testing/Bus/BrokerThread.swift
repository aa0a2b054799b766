internal import Glibc
internal import StrataBus
internal import StrataCore
internal import StrataLoop

/// A broker in this process, on its own thread and its own loop.
final class BrokerThread {
    /// The state that the broker's thread and the test's thread share.
    ///
    /// `@unchecked Sendable` because `failure` and `wake` are written before the byte that
    /// reports them is sent, and read after that byte was received.
    private final class Shared: @unchecked Sendable {
        let table: AppTable
        let path: String
        let report: Int32
        let isLaunched: Bool
        var failure: TestFailure?
        var wake: WakeUp?

        init(table: AppTable, path: String, report: Int32, isLaunched: Bool) {
            self.table = table
            self.path = path
            self.report = report
            self.isLaunched = isLaunched
        }
    }

    private let shared: Shared
    private var thread = pthread_t()
    /// The reading end of a socket pair. The broker's thread writes one byte when it listens, and
    /// closes its end when the broker has ended.
    private let reports: Int32

    /// - Parameter isLaunched: whether the broker waits for this process to connect as its
    ///   launcher.
    init(_ table: AppTable, path: String, isLaunched: Bool) throws {
        let ends = try SocketPair.make()
        reports = ends.reading
        shared = Shared(table: table, path: path, report: ends.writing, isLaunched: isLaunched)
        let argument = Unmanaged.passRetained(shared).toOpaque()
        let status = pthread_create(
            &thread, nil,
            { argument in
                BrokerThread.run(Unmanaged<Shared>.fromOpaque(argument!).takeRetainedValue())
                return nil
            }, argument)
        guard status == 0 else { throw TestFailure.system("start a thread", status) }
        var byte: UInt8 = 0
        guard awaitReport(TestBus.patience), read(reports, &byte, 1) == 1 else {
            pthread_join(thread, nil)
            close(reports)
            throw shared.failure ?? TestFailure("the broker's thread ended before it listened")
        }
    }

    private static func run(_ shared: Shared) {
        defer { close(shared.report) }
        do {
            let loop = try Loop()
            let relay = BrokerRelay(loop)
            // Made before the broker's own hook, because the hook made last runs first.
            if TestBus.isHandedOverEachRound { relay.handOverEachRound() }
            let broker = try Broker(loop, table: shared.table, path: shared.path)
            if shared.isLaunched { broker.awaitLauncher(getpid()) }
            relay.broker = broker
            shared.wake = try WakeUp(loop) {
                relay.shutDown { shared.wake?.close() }
            }
            var byte: UInt8 = 1
            write(shared.report, &byte, 1)
            loop.run()
        } catch {
            shared.failure = TestFailure("the broker did not start: \(error)")
        }
    }

    /// Begins the broker's orderly end.
    func beginShutDown() { shared.wake?.send() }

    /// Waits for the end of the thread.
    /// - Returns: false if the thread hasn't ended in time.
    func join(within time: Duration) -> Bool {
        guard awaitReport(time) else { return false }
        pthread_join(thread, nil)
        close(reports)
        return true
    }

    private func awaitReport(_ time: Duration) -> Bool {
        let deadline = Deadline(time)
        while true {
            var wanted = pollfd(fd: reports, events: Int16(POLLIN), revents: 0)
            if poll(&wanted, 1, deadline.milliseconds) > 0 { return true }
            if deadline.hasPassed { return false }
        }
    }
}

/// The broker of a test's thread.
///
/// If the environment has `STRATA_TEST_HANDOVER`, this replaces the broker after each round of
/// the loop. Every test step then meets a broker that was just made from what another one wrote
/// down.
final class BrokerRelay: NextBroker {
    var broker: Broker?
    private let loop: Loop
    private var hook: RoundHook?
    private var isEnding = false

    init(_ loop: Loop) { self.loop = loop }

    func handOverEachRound() {
        hook = RoundHook(loop) { [unowned self] in
            guard !isEnding, let broker else { return }
            if let problem = broker.handOver(to: self) {
                preconditionFailure("the broker was not replaced: \(problem)")
            }
        }
    }

    func shutDown(then: @escaping () -> Void) {
        isEnding = true
        hook?.close()
        hook = nil
        broker?.shutDown(then: then)
    }

    func tryOut(_ state: Int32, expecting answer: [UInt8], then: @escaping (String?) -> Void) {
        close(state)
        then(nil)
    }

    func become(_ state: Int32, keeping descriptors: [Int32], letGo: () -> Void) -> String? {
        letGo()
        defer { close(state) }
        do {
            broker = try Broker(loop, resuming: state)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
