import Glibc
import StrataCore

/// Waits for a bus that is gone to be back, for a bounded time: looks again after
/// 10 ms, then after twice as long each time, up to a second.
///
/// Says on stderr that it waits, and what came of it.
struct Reconnection {
    private static let first: UInt64 = 10
    private static let longest: UInt64 = 1_000

    private let path: String
    private let patience: UInt64
    /// On the clock of `Loop.nanoseconds`.
    private let deadline: UInt64
    private var pause = first
    private var wasBack = false
    /// Why the last attempt failed.
    private var last: Failure

    /// - Parameters:
    ///   - path: the bus's socket.
    ///   - loss: how the connection ended.
    ///   - patience: how long the bus may be gone, in milliseconds; 0 is not at all.
    init(to path: String, after loss: Failure, patience: UInt64) throws(Failure) {
        guard patience > 0 else { throw loss }
        self.path = path
        self.patience = patience
        last = loss
        deadline = Loop.nanoseconds + patience * 1_000_000
        StandardError.write("strata: \(loss.message); waiting \(Duration.text(patience)) at most for it to be back")
    }

    /// Waits, and connects.
    /// - Returns: nil where ctrl-C ended it.
    /// - Throws: `noBus` where the bus isn't back in time, and what a bus that is
    ///   there says against this user.
    mutating func connect() throws(Failure) -> OperatorConnection? {
        while Loop.nanoseconds < deadline {
            guard try wait() else { return nil }
            do throws(Failure) {
                let connection = try OperatorConnection(path: path, patience: min(left, OperatorConnection.patience))
                if !wasBack { StandardError.write("strata: the bus at \(path) is back") }
                wasBack = true
                return connection
            } catch {
                guard error.status == .noBus else { throw error }
                last = error
            }
        }
        throw Failure(
            .noBus, "the app has ended, or its bus doesn't come back: after \(Duration.text(patience)), \(last.message)"
        )
    }

    /// What was asked of a bus that is back isn't there yet.
    mutating func failed(_ failure: Failure) { last = failure }

    private var left: UInt64 {
        let now = Loop.nanoseconds
        return now < deadline ? max(1, (deadline - now) / 1_000_000) : 1
    }

    /// - Returns: false where ctrl-C ended it.
    private mutating func wait() throws(Failure) -> Bool {
        var isInterrupted = false
        do throws(SystemError) {
            let loop = try Loop()
            let timer = LoopTimer(loop) { loop.stop() }
            let interrupts = try SignalWatcher(loop, signal: SIGINT) {
                isInterrupted = true
                loop.stop()
            }
            timer.start(after: min(pause, left))
            loop.run()
            timer.close()
            interrupts.close()
            loop.runOnce()
        } catch {
            throw Failure(.answer, "nothing can be waited for: \(error)")
        }
        pause = min(pause * 2, Self.longest)
        return !isInterrupted
    }
}

/// What goes on over one connection after another, until it ends by itself.
extension Reconnection {
    /// - Parameters:
    ///   - first: the connection to begin with.
    ///   - patience: how long the bus may be gone, in milliseconds; 0 is not at all.
    ///   - read: what is done over a connection, and whether it is another than the first.
    static func follow(
        _ first: OperatorConnection, patience: UInt64,
        _ read: (_ connection: OperatorConnection, _ isAgain: Bool) throws(Failure) -> Void
    ) throws(Failure) {
        var connection = first
        var reconnection: Reconnection?
        while true {
            do throws(Failure) {
                return try read(connection, reconnection != nil)
            } catch {
                guard isLoss(error, isAgain: reconnection != nil) else { throw error }
                if error.code == .unavailable {
                    reconnection?.failed(error)
                } else {
                    reconnection = try Reconnection(to: connection.path, after: error, patience: patience)
                }
                guard let next = try reconnected(&reconnection) else { return }
                connection = next
            }
        }
    }

    /// Whether it may go on: the broker is gone, or the launcher is, or it isn't with the
    /// new broker yet.
    private static func isLoss(_ failure: Failure, isAgain: Bool) -> Bool {
        failure.status == .noBus || failure.code == .died || isAgain && failure.code == .unavailable
    }

    /// - Returns: nil where ctrl-C, or the app's end, ended the waiting.
    private static func reconnected(_ reconnection: inout Reconnection?) throws(Failure) -> OperatorConnection? {
        do throws(Failure) { return try reconnection?.connect() } catch {
            guard error.code == .shuttingDown else { throw error }
            StandardError.write("strata: \(Monitor.appEnds)")
            return nil
        }
    }
}
