internal import Glibc
import StrataCore
import StrataLoop

/// The broker as a program: `strata-broker --table FD --socket PATH [--listen FD]`.
///
/// The table is JSON in the file behind the descriptor. With `--listen`, the socket already
/// listens, and its file belongs to a service manager. A broker without a launcher reports its
/// state to such a manager (`ServiceManager`). A running broker uses `--resume FD` and `--try FD`
/// to be replaced: see `NextProgram`.
///
/// Exit codes: 0 after an orderly end; 2 for bad usage, a bad table or an unusable path; 3 if a
/// live broker has the path.
public enum BrokerDaemon {
    private enum Order {
        case begin(table: Int32, path: String, listening: Int32?)
        /// Continue from the state behind the descriptor.
        case resume(Int32)
        /// Only report whether that would work.
        case tryOut(Int32)
    }

    /// Runs the broker that the arguments describe, until its end.
    public static func main() -> Never {
        LargeBlocks.havePagesOfTheirOwn()
        do {
            switch try order() {
            case .tryOut(let state):
                let answer = try Broker.tryOut(state)
                guard write(1, answer, answer.count) == answer.count else { exit(2) }
            case .begin(let descriptor, let path, let listening):
                let table = try readTable(descriptor)
                let loop = try Loop()
                let broker = try Broker(loop, table: table, path: path, listening: listening)
                limitDescriptors(of: broker)
                // The process at the lifeline's other end has started this one.
                if getenv("STRATA_LIFELINE") != nil { broker.awaitLauncher(getppid()) }
                try run(broker, on: loop)
            case .resume(let state):
                let loop = try Loop()
                let broker = try Broker(loop, resuming: state)
                close(state)
                if let resumed = broker.resumed { say(resumed) }
                limitDescriptors(of: broker)
                try run(broker, on: loop)
            }
            exit(0)
        } catch let error as BrokerStartError {
            say("\(error)")
            if case .alreadyRunning = error { exit(3) }
            exit(2)
        } catch {
            say("\(error)")
            exit(2)
        }
    }

    /// Raises the limit on descriptors, of which each connection needs one, and the broker some.
    private static func limitDescriptors(of broker: Broker) {
        broker.mayOpen(Descriptors.raiseLimit())
        if let problem = broker.descriptorProblem { say(problem) }
    }

    /// Runs until a signal, or the launcher's end, has ended the broker in order.
    private static func run(_ broker: Broker, on loop: Loop) throws(SystemError) {
        // Writing to a closed pipe fails, instead of killing the process.
        signal(SIGPIPE, SIG_IGN)
        // A state that is larger than `ulimit -f` fails to be written, instead of killing the
        // process.
        signal(SIGXFSZ, SIG_IGN)
        var handles: [Handle] = []
        let manager = ServiceManager(environment: environment)
        let lifeline = getenv("STRATA_LIFELINE").flatMap { Int32(String(cString: $0)) }
        let next = NextProgram(loop, path: NextProgram.ownPath, lifeline: lifeline)
        broker.next = next
        let end = {
            manager.tell(.stopping)
            next.giveUp()
            broker.shutDown {
                // The handles stay until the process ends: without them, a second signal would kill
                // it.
                for handle in handles { handle.keepsLoopRunning(false) }
            }
        }
        handles.append(try SignalWatcher(loop, signal: SIGTERM, onSignal: end))
        handles.append(try SignalWatcher(loop, signal: SIGINT, onSignal: end))
        NextProgram.takeSignals()
        if let lifeline {
            handles.append(try OutputReader(loop, descriptor: lifeline, onBytes: { _ in }, onEnd: end))
        }
        manager.tell(.ready, .status("\(broker.bus.table.app) on \(broker.listener?.path ?? "")"))
        if let interval = manager.aliveInterval {
            let timer = LoopTimer(loop) { manager.tell(.alive) }
            timer.start(after: interval, every: interval)
            handles.append(timer)
        }
        withExtendedLifetime(next) { loop.run() }
    }

    private static var environment: [String: String] {
        Dictionary(
            uniqueKeysWithValues: ServiceManager.names.compactMap { name in
                getenv(name).map { (name, String(cString: $0)) }
            })
    }

    private static func order() throws(UsageError) -> Order {
        let words = CommandLine.arguments.dropFirst()
        switch (words.first, words.count) {
        case ("--table", 4) where words[3] == "--socket":
            if let descriptor = Int32(words[2]) { return .begin(table: descriptor, path: words[4], listening: nil) }
        case ("--table", 6) where words[3] == "--socket" && words[5] == "--listen":
            if let descriptor = Int32(words[2]), let listening = Int32(words[6]) {
                return .begin(table: descriptor, path: words[4], listening: listening)
            }
        case ("--resume", 2): if let descriptor = Int32(words[2]) { return .resume(descriptor) }
        case ("--try", 2): if let descriptor = Int32(words[2]) { return .tryOut(descriptor) }
        default: break
        }
        throw UsageError(
            "usage: strata-broker --table FD --socket PATH [--listen FD]; it is started by `strata broker MANIFEST` and `strata up`"
        )
    }

    /// The most bytes that a table may have.
    private static let largestTable = 64 << 20

    private static func readTable(_ descriptor: Int32) throws(UsageError) -> AppTable {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw UsageError("the table can't be read from descriptor \(descriptor): errno \(errno)")
            }
            if count == 0 { break }
            bytes += chunk[..<count]
            guard bytes.count <= largestTable else { throw UsageError("the table is over \(largestTable) bytes") }
        }
        close(descriptor)
        do {
            return try AppTable(json: try JSON(parsing: bytes))
        } catch {
            throw UsageError("the table can't be understood: \(error)")
        }
    }

    /// Writes a message to standard error, for the launcher or a person.
    private static func say(_ message: String) {
        let line = Array("strata-broker: \(message)\n".utf8)
        _ = write(2, line, line.count)
    }
}

private struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
