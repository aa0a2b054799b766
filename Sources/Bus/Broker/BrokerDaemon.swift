internal import Glibc
import StrataCore

/// The broker as a program: `strata-broker --table FD --socket PATH`.
///
/// The table is JSON in the file behind the descriptor. Exit codes: 0 after an
/// orderly end, 2 for bad usage, a bad table or an unusable path, 3 where a
/// broker is live on the path.
public enum BrokerDaemon {
    public static func main() -> Never {
        do {
            let (descriptor, path) = try arguments()
            let table = try readTable(descriptor)
            let loop = try Loop()
            signal(SIGPIPE, SIG_IGN)
            // One descriptor for each connection, and some for the broker's own.
            let wanted = UInt(table.limits.connections) + 64
            let most = Descriptors.raiseLimit(to: wanted)
            if most < wanted {
                complain(
                    "only \(most) descriptors may be open, and \(wanted) are needed for limits.connections: raise ulimit -n"
                )
            }
            let broker = try Broker(loop, table: table, path: path)
            try run(broker, on: loop)
            exit(0)
        } catch let error as BrokerStartError {
            complain("\(error)")
            if case .alreadyRunning = error { exit(3) }
            exit(2)
        } catch {
            complain("\(error)")
            exit(2)
        }
    }

    /// Runs until a signal, or the end of the launcher, has ended it in order.
    private static func run(_ broker: Broker, on loop: Loop) throws(SystemError) {
        var handles: [Handle] = []
        let end = {
            broker.shutDown {
                for handle in handles { handle.close() }
                handles = []
            }
        }
        handles.append(try SignalWatcher(loop, signal: SIGTERM, onSignal: end))
        handles.append(try SignalWatcher(loop, signal: SIGINT, onSignal: end))
        if let lifeline = getenv("STRATA_LIFELINE").flatMap({ Int32(String(cString: $0)) }) {
            handles.append(try OutputReader(loop, descriptor: lifeline, onBytes: { _ in }, onEnd: end))
        }
        loop.run()
    }

    private static func arguments() throws(UsageError) -> (Int32, String) {
        let words = CommandLine.arguments
        guard words.count == 5, words[1] == "--table", let descriptor = Int32(words[2]), words[3] == "--socket" else {
            throw UsageError(
                "usage: strata-broker --table FD --socket PATH; it is started by `strata broker MANIFEST` and `strata up`"
            )
        }
        return (descriptor, words[4])
    }

    /// A table may be so large, in bytes.
    private static let largestTable = 64 << 20

    private static func readTable(_ descriptor: Int32) throws(UsageError) -> AppTable {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw UsageError("the table can't be read from descriptor \(descriptor): errno \(errno)")
            }
            if count == 0 { break }
            bytes += piece[..<count]
            guard bytes.count <= largestTable else { throw UsageError("the table is over \(largestTable) bytes") }
        }
        close(descriptor)
        do {
            return try AppTable(json: try JSON(parsing: bytes))
        } catch {
            throw UsageError("the table can't be understood: \(error)")
        }
    }

    private static func complain(_ message: String) {
        let line = Array("strata-broker: \(message)\n".utf8)
        _ = write(2, line, line.count)
    }
}

private struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
