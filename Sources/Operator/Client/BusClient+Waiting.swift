public import StrataCore
import StrataLoop

/// For a program that does one thing after another: the loop runs until an answer is there.
/// None of it is called from within a callback of the loop.
extension BusClient {
    struct Waiting {
        var timer: LoopTimer?
        var isOverdue = false
    }

    /// How long a bus may take to answer hello, in milliseconds.
    public static let patience: UInt64 = 10_000

    /// Connects, anew where there is a connection, and waits until hello is answered.
    /// - Parameter patience: how long the bus may take for it, in milliseconds.
    /// - Returns: hello's answer.
    @discardableResult
    public func open(within patience: UInt64 = patience) throws(ClientError) -> Welcome {
        try wait(patience) { (onDone: @escaping (Result<Welcome, ClientError>) -> Void) throws(ClientError) in
            do throws(SystemError) { try connect(onDone) } catch { throw ClientError(connectingTo: path, error) }
        }
    }

    /// Sends a request and waits for its final answer, for as long as its `patience` says.
    /// - Throws: `unusable` for params that no frame of this bus holds; `quiet` for an endless
    ///   stream, which is given up then.
    public func send(_ request: Request) throws(ClientError) -> [UInt8] {
        let size = request.body.count + request.meta.count + 1024
        guard size <= Int(limits.frame) else {
            throw .unusable(
                "the params have \(request.body.count) bytes, and this bus takes frames of \(limits.frame): "
                    + "send less at once, or raise limits.frame in the manifest")
        }
        var heard = request
        heard.onPartial = { [unowned self] body in
            // An answer that nobody waits for any more gives no time.
            if let time = request.patience, let timer = waiting.timer, timer.isActive { timer.start(after: time) }
            request.onPartial(body)
        }
        do throws(ClientError) {
            return try wait(request.patience) { onDone in send(heard) { [unowned self] in onDone(result($0)) } }
        } catch {
            // While it is connected, no answer has come in time.
            guard case .noBus = error, isConnected, request.isEndless, let patience = request.patience else {
                throw error
            }
            cancelAll()
            throw .quiet(patience)
        }
    }

    /// Calls an action of the bus's own, or of its launcher's, and waits for its answer.
    /// - Parameters:
    ///   - to: `bus/modules`.
    ///   - params: nil for none.
    ///   - patience: how long it may take, in milliseconds; nil is the bus's own time, and some more.
    public func ask(_ to: String, _ params: JSON? = nil, within patience: UInt64? = nil) throws(ClientError) -> JSON {
        var request = Request(to: to, params)
        if let patience { request.patience = patience }
        return try json(try send(request), of: to).get()
    }

    /// Asks how the bus and its modules are, and waits until all have answered.
    public func look(measuring: Bool = false) throws(ClientError) -> BusSnapshot {
        try wait(Request().patience) { look(measuring: measuring, onDone: $0) }
    }

    /// Runs the loop until something is so.
    /// - Parameters:
    ///   - time: at most so many milliseconds; nil for any time.
    ///   - isSo: asked before the first of the loop's rounds, and after each.
    /// - Returns: whether it is so.
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

    /// Begins something, and runs the loop until it has a result.
    func wait<Value>(
        _ time: UInt64?, for begin: (@escaping (Result<Value, ClientError>) -> Void) throws(ClientError) -> Void
    ) throws(ClientError) -> Value {
        var result: Result<Value, ClientError>?
        try begin { result = $0 }
        run(time) { result != nil }
        guard let result else {
            throw .noBus("the bus at \(path) takes connections and does not answer: is it stopped?")
        }
        return try result.get()
    }
}

/// Whether the bus is there, and for how long it has not been.
///
/// A value without I/O; `now` in milliseconds.
struct BusPresence {
    /// Since when there has been no connection; nil while there is one.
    private var missing: UInt64?
    private(set) var wasUp = false

    init(at now: UInt64) { missing = now }

    var isUp: Bool { missing == nil }

    /// How long there has been none, 0 where it stands.
    func absence(at now: UInt64) -> UInt64 { missing.map { now - min($0, now) } ?? 0 }

    /// hello was answered.
    /// - Returns: how long it was away; nil the first time.
    mutating func came(at now: UInt64) -> UInt64? {
        defer { (missing, wasUp) = (nil, true) }
        return wasUp ? absence(at: now) : nil
    }

    /// The connection is gone, or could not be made.
    /// - Returns: whether it stood.
    mutating func went(at now: UInt64) -> Bool {
        guard isUp else { return false }
        missing = now
        return true
    }

    /// A broker that doesn't answer was replaced: the next one gets as much time.
    mutating func waitAnew(at now: UInt64) {
        if !isUp { missing = now }
    }
}
