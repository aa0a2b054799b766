public import StrataCore
import StrataLoop

/// Blocking requests, for a program that does one thing after another. They run the loop until the
/// answer arrives. Don't call them from a callback of the loop.
extension BusClient {
    struct Waiting {
        var timer: LoopTimer?
        var isOverdue = false
    }

    /// How long a bus may take to answer hello, in milliseconds.
    public static let patience: UInt64 = 10_000

    /// Connects, or reconnects, and waits for the answer to hello.
    /// - Parameter patience: how long the bus may take to answer, in milliseconds.
    /// - Returns: the answer to hello.
    @discardableResult
    public func open(within patience: UInt64 = patience) throws(ClientError) -> Welcome {
        try wait(patience) { (onDone: @escaping (Result<Welcome, ClientError>) -> Void) throws(ClientError) in
            do throws(SystemError) { try connect(onDone) } catch { throw ClientError(connectingTo: path, error) }
        }
    }

    /// Sends a request and waits for its final answer, for as long as its `patience` allows.
    /// - Parameters:
    ///   - request: the request to send.
    ///   - onTaken: called once when the bus has taken the request, unless it was answered before
    ///     that. A ping behind the request finds this out, because a bus handles the requests of one
    ///     connection in their order.
    /// - Throws: `unusable` if the params don't fit into a frame of this bus; `quiet` for an
    ///   endless stream that sends nothing for that long, which is then cancelled.
    public func send(_ request: Request, onTaken: (() -> Void)? = nil) throws(ClientError) -> [UInt8] {
        let size = request.body.count + request.meta.count + 1024
        guard size <= Int(limits.frame) || goesInFile(request) else {
            throw .unusable(
                "the params have \(request.body.count) bytes, and this bus takes frames of \(limits.frame): "
                    + "send less at once, or raise limits.frame in the manifest")
        }
        var heard = request
        heard.onPartial = { [unowned self] body in
            // A late partial reply, which no call waits for, must not restart the timer.
            if let time = request.patience, let timer = waiting.timer, timer.isActive { timer.start(after: time) }
            request.onPartial(body)
        }
        do throws(ClientError) {
            return try wait(request.patience) { onDone in
                var isAnswered = false
                send(heard) { [unowned self] in
                    isAnswered = true
                    onDone(result($0))
                }
                guard let onTaken else { return }
                send(Request(to: "bus/ping")) { if case .success = $0, !isAnswered { onTaken() } }
            }
        } catch {
            // While the client is connected, `noBus` means that no answer came in time.
            guard case .noBus = error, isConnected, request.isEndless, let patience = request.patience else {
                throw error
            }
            cancelAll()
            throw .quiet(patience)
        }
    }

    /// Calls an action of the bus or of its launcher, and waits for the answer.
    /// - Parameters:
    ///   - to: the action, such as `bus/modules`.
    ///   - params: nil for none.
    ///   - patience: how long to wait, in milliseconds; nil is a little longer than the bus's
    ///     default.
    public func ask(_ to: String, _ params: JSON? = nil, within patience: UInt64? = nil) throws(ClientError) -> JSON {
        var request = Request(to: to, params)
        if let patience { request.patience = patience }
        return try json(try send(request), of: to).get()
    }

    /// Requests the state of the bus and its modules, and waits until all have answered.
    public func look(measuring: Bool = false) throws(ClientError) -> BusSnapshot {
        try wait(Request().patience) { look(measuring: measuring, onDone: $0) }
    }

    /// Runs the loop until a condition is true.
    /// - Parameters:
    ///   - time: the time limit in milliseconds; nil for none.
    ///   - isSo: the condition, which is checked before the first round of the loop and after each.
    /// - Returns: whether the condition is true.
    @discardableResult
    public func run(_ time: UInt64?, until isSo: () -> Bool) -> Bool {
        let timer = waiting.timer ?? LoopTimer(loop) { [unowned self] in waiting.isOverdue = true }
        (waiting.timer, waiting.isOverdue) = (timer, false)
        loop.updateTime()
        if let time { timer.start(after: time) }
        defer { timer.stop() }
        while !isSo() {
            guard !waiting.isOverdue else { return false }
            loop.runOnce(waiting: true)
        }
        return true
    }

    /// Begins an operation, and runs the loop until it has a result.
    func wait<Value>(
        _ time: UInt64?, for begin: (@escaping (Result<Value, ClientError>) -> Void) throws(ClientError) -> Void
    ) throws(ClientError) -> Value {
        var result: Result<Value, ClientError>?
        try begin { result = $0 }
        run(time) { result != nil }
        guard let result else {
            throw .noBus("the bus at \(path) accepts connections but does not answer: is it stopped?")
        }
        return try result.get()
    }
}

/// Whether the bus is connected, and for how long it has not been.
///
/// A value without I/O; `now` is in milliseconds.
struct BusPresence {
    /// When the connection was lost; nil while there is one.
    private var missing: UInt64?
    private(set) var wasUp = false

    init(at now: UInt64) { missing = now }

    var isUp: Bool { missing == nil }

    /// Returns how long there has been no connection; 0 if there is one.
    func absence(at now: UInt64) -> UInt64 { missing.map { now - min($0, now) } ?? 0 }

    /// Records the answer to hello.
    /// - Returns: how long the bus was away; nil the first time.
    mutating func came(at now: UInt64) -> UInt64? {
        defer { (missing, wasUp) = (nil, true) }
        return wasUp ? absence(at: now) : nil
    }

    /// Records that the connection ended or could not be made.
    /// - Returns: whether there was a connection.
    mutating func went(at now: UInt64) -> Bool {
        guard isUp else { return false }
        missing = now
        return true
    }

    /// Restarts the time of absence, because a new broker replaced one that didn't answer.
    mutating func waitAnew(at now: UInt64) {
        if !isUp { missing = now }
    }
}
