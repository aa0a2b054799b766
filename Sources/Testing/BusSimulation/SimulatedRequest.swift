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

    /// When the bus handled it.
    struct Handling {
        /// By the count of frames that the bus has handled.
        var order = Int.max
        /// Nanoseconds.
        var time: UInt64 = 0
        /// The table that was in force, by its place.
        var table = 0
    }

    /// Who has got it.
    struct Delivery {
        /// The sessions.
        var sessions: [Int] = []
        /// How many frames the bus had handled then.
        var order = Int.max
        /// How many observers have not answered a report.
        var open = 0
    }

    /// Its partial replies.
    struct Stream {
        var credit: Int
        /// Those that the bus has handled, by their numbers.
        var handled: [Int] = []
        /// How many have come to its sender.
        var seen = 0
        /// Its callee has sent one for which there was no credit.
        var isOverdrawn = false
    }

    /// Its final answer.
    struct End {
        var code = ""
        /// How many frames the bus had handled when it came to its sender.
        var order = Int.max
        /// It said that the request never ran.
        var neverRan = false
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

    var state = State.sent
    /// The session that owns the created instance; -1 when unknown.
    var owner = -1
    var handling = Handling()
    /// Milliseconds of the clock; `max` for never.
    var expiry = UInt64.max
    var delivery = Delivery()
    var isCancelled = false
    /// Its callee has got a cancel.
    var isTakenBack = false
    /// Its sender had as many open requests as it may have.
    var isOneTooMany = false
    var isAllowed = false
    /// What its callee answered at last, as the bus has handled it.
    var answer: SimulatedAnswer?
    var stream: Stream
    var end = End()
    /// The bus may keep it until a module or the authorizer is there.
    var mayWait = false
}
