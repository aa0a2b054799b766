import StrataCore

/// A simulated peer's request, and what happened to it: a call, an open, a report, a broadcast,
/// or a call to the bus.
struct SimulatedRequest {
    enum Target: Equatable {
        /// An action of the interface of the module at this index.
        case action(Int, String)
        case instance(String)
        case url(Int, SimulatedURL)
        case report(Int)
        case broadcast
        case observe(SimulatedApp.Observed)
        case unobserve(Int)
        case create(Int)
        case release(String)
        case bus
        /// A URL of another app.
        case elsewhere(SimulatedLink.URL)
    }

    /// The moment at which the bus handled the request.
    struct Handling {
        /// The number of frames that the bus had handled.
        var order = Int.max
        /// The time, in nanoseconds.
        var time: UInt64 = 0
        /// The index of the table that was in force.
        var table = 0
    }

    /// The receivers of the request.
    struct Delivery {
        /// The sessions that got it, by their numbers.
        var sessions: [Int] = []
        /// The number of frames that the bus had handled at its delivery.
        var order = Int.max
        /// The number of observers that have not answered a report.
        var open = 0
    }

    /// The request's partial replies.
    struct Stream {
        var credit: Int
        /// The numbers of the partial replies that the bus has handled.
        var handled: [Int] = []
        /// The number of partial replies that have reached the sender.
        var seen = 0
        /// Whether the callee has sent a partial reply without credit for it.
        var isOverdrawn = false
    }

    /// The request's final answer.
    struct End {
        var code = ""
        /// The number of frames that the bus had handled when the answer reached the sender.
        var order = Int.max
        /// Whether the answer said that the request never ran.
        var neverRan = false
    }

    /// The request's state, as its sender sees it.
    enum State: Equatable { case sent, handled, ended }

    let number: Int
    let session: Int
    /// The request's id in its frames; 0 if it has none.
    let id: UInt64
    let target: Target
    /// The number of the notification, if it is one.
    let name: Int
    let object: Int?
    /// The rank of its sender.
    let rank: Int
    /// The deadline in milliseconds; nil for none.
    let deadline: Int?
    /// The number of the request that it is made for; negative if there is none.
    let parent: Int
    /// The id under which the sender serves the parent.
    let parentID: UInt64
    /// The number of requests in its chain.
    let depth: Int
    /// The number of its key; 0 for none.
    let key: Int
    let skipsAuthorization: Bool
    /// Whether it has no deadline, whatever its header says.
    let isEndless: Bool

    var state = State.sent
    /// The session that owns the created instance; -1 if unknown.
    var owner = -1
    var handling = Handling()
    /// When it expires, in milliseconds of the bus's clock; `max` for never.
    var expiry = UInt64.max
    var delivery = Delivery()
    var isCancelled = false
    /// Whether its callee has got a cancel.
    var isTakenBack = false
    /// Whether its sender already had as many open requests as `limits.calls` allows.
    var isOneTooMany = false
    var isAllowed = false
    /// The callee's last answer that the bus has handled.
    var answer: SimulatedAnswer?
    /// The number of frames that the bus had handled with that answer.
    var answeredAt = 0
    var stream: Stream
    var end = End()
    /// Whether the bus may keep it until a module or the authorizer is ready.
    var mayWait = false
}
