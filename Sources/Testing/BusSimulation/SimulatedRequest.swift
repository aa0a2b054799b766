import StrataCore

/// A call, an open, a report or a broadcast of a simulated peer, or something that it asks of the
/// bus, and what has become of it.
struct SimulatedRequest {
    enum Target: Equatable {
        /// An action of the interface of the module at a place.
        case action(Int, String)
        case instance(String)
        case url(Int)
        case report(Int)
        case broadcast
        case observe(SimulatedApp.Observed)
        case unobserve(Int)
        case create(Int)
        case release(String)
        case bus
    }

    /// Where it stands, as its sender sees it.
    enum State: Equatable { case sent, handled, ended }

    let number: Int
    let session: Int
    /// 0 where it has none.
    let id: UInt64
    let target: Target
    /// The notification's, where it is one.
    let name: Int
    let object: Int?
    /// The rank that it is sent with.
    let rank: Int
    /// Milliseconds; nil for none.
    let deadline: Int?
    let parent: Int
    /// The number under which its sender serves the parent.
    let parentID: UInt64
    let skipsAuthorization: Bool
    /// It has no deadline, whatever it says.
    let isEndless: Bool
    var credit: Int

    var state = State.sent
    /// The session that owns the created instance; -1 when unknown.
    var owner = -1
    /// When the bus handled it, by the count of frames that it has handled.
    var order = Int.max
    var handledAt: UInt64 = 0
    /// The table by which the bus handled it, by its place.
    var table = 0
    /// Milliseconds of the clock; `max` for never.
    var expiry = UInt64.max
    /// The sessions that it was delivered to.
    var deliveries: [Int] = []
    /// How many frames the bus had handled when it was delivered.
    var deliveredOrder = Int.max
    var isCancelled = false
    /// Its callee has sent a partial reply for which there was no credit.
    var isOverdrawn = false
    /// Its callee has got a cancel.
    var isTakenBack = false
    /// Its sender had as many open requests as it may have.
    var isOneTooMany = false
    var isAllowed = false
    /// It said that it never ran.
    var neverRan = false
    /// What its callee answered at last, as the bus has handled it.
    var answer: SimulatedAnswer?
    var partialsHandled: [Int] = []
    var partialsSeen = 0
    var endCode = ""
    /// How many frames the bus had handled when its end came to its sender.
    var endOrder = Int.max
    /// How many observers have got it, and answered.
    var notices = 0
    /// The bus may keep it until a module or the authorizer is there.
    var mayWait = false
}
