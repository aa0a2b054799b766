import StrataOperator

/// Waits a limited time for a lost bus to come back. It tries again after 10 ms, and doubles the
/// pause each time, up to 1 s.
///
/// It reports on stderr that it waits, and how the waiting ended.
struct BusReturn {
    private static let first: UInt64 = 10
    private static let longest: UInt64 = 1_000

    private let connection: CommandClient
    private let patience: UInt64
    /// The end of the waiting, by the clock of `Loop.nanoseconds`.
    private let deadline: UInt64
    private var pause = first
    private var wasBack = false
    /// The reason why the last attempt failed.
    private var last: Failure

    /// - Parameters:
    ///   - loss: how the connection ended.
    ///   - patience: how long the bus may be gone, in milliseconds; 0 doesn't wait at all.
    private init(_ connection: CommandClient, after loss: Failure, patience: UInt64) throws(Failure) {
        guard patience > 0 else { throw loss }
        (self.connection, self.patience, last) = (connection, patience, loss)
        deadline = Loop.nanoseconds + patience * 1_000_000
        StandardError.write("strata: \(loss.message); waiting up to \(Duration.text(patience)) for it to return")
    }

    /// Waits for the bus, and connects.
    /// - Returns: false if ctrl-C ended the waiting.
    /// - Throws: `noBus` if the bus isn't back in time, or the error with which a bus refuses
    ///   this user.
    private mutating func connect() throws(Failure) -> Bool {
        while Loop.nanoseconds < deadline {
            guard connection.pause(milliseconds: min(pause, left)) else { return false }
            pause = min(pause * 2, Self.longest)
            do throws(Failure) {
                try connection.open(within: min(left, BusClient.patience))
                if !wasBack { StandardError.write("strata: the bus at \(connection.path) is back") }
                wasBack = true
                return true
            } catch {
                guard error.status == .noBus else { throw error }
                last = error
            }
        }
        throw Failure(
            .noBus, "the app has ended, or its bus did not return within \(Duration.text(patience)): \(last.message)"
        )
    }

    private var left: UInt64 {
        let now = Loop.nanoseconds
        return now < deadline ? max(1, (deadline - now) / 1_000_000) : 1
    }

    /// Runs a task over one connection after another, until it ends by itself.
    /// - Parameters:
    ///   - patience: how long the bus may be gone, in milliseconds; 0 doesn't wait at all.
    ///   - read: the task, which gets whether this connection replaces an earlier one.
    static func follow(
        _ connection: CommandClient, patience: UInt64, _ read: (_ isAgain: Bool) throws(Failure) -> Void
    ) throws(Failure) {
        var busReturn: BusReturn?
        while true {
            do throws(Failure) {
                return try read(busReturn != nil)
            } catch {
                guard isLoss(error, isAgain: busReturn != nil) else { throw error }
                if error.code == .unavailable {
                    // The bus is back, but what was asked for isn't there yet.
                    busReturn?.last = error
                } else {
                    busReturn = try BusReturn(connection, after: error, patience: patience)
                }
                guard try busReturn?.isBack() == true else { return }
            }
        }
    }

    /// Whether the task may continue later: the broker or the launcher is gone, or the launcher
    /// hasn't joined the new broker yet.
    private static func isLoss(_ failure: Failure, isAgain: Bool) -> Bool {
        failure.status == .noBus || failure.code == .died || isAgain && failure.code == .unavailable
    }

    /// - Returns: false if ctrl-C or the app's end stopped the waiting.
    private mutating func isBack() throws(Failure) -> Bool {
        do throws(Failure) { return try connect() } catch {
            guard error.code == .shuttingDown else { throw error }
            StandardError.write("strata: \(MonitorCommand.appEnds)")
            return false
        }
    }
}
