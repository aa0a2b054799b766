import StrataCore

/// A call, an open or a report, from its sender to its one answer.
struct JoinedRequest {
    /// A callee's final answer.
    enum Answer: Equatable {
        case reply(Int)
        case error(code: String, ran: BusError.Ran)
    }

    let number: Int
    let kind: String
    /// The caller, by its number.
    let caller: Int
    let id: UInt64
    let row: Int
    /// The nodes on which it may run.
    let nodes: [Int]
    /// The number of the replica that it names, and its key; 0 if it has none.
    let replica: Int
    let key: Int
    /// The code with which it must be refused; nil if it may run.
    let refusal: String?
    /// When it was sent: in looks of the referee, in nanoseconds, and its place among all requests and
    /// broadcasts.
    let sent: (look: Int, time: UInt64, place: Int)
    /// In milliseconds; nil if it has none.
    let deadline: UInt64?
    var credit: Int
    var isCancelled = false
    /// The peers at which it has begun, by their numbers.
    var begun: [Int] = []
    var answer: Answer?
    /// Whether its callee has answered that it has not run. An answer that finds no room becomes `overloaded`, and
    /// keeps its `ran`.
    var saysNo: Bool { if case .error(_, .no) = answer { true } else { false } }
    /// The partial replies that its callee has sent, and how many its caller got.
    var partials: [Int] = []
    var seen = 0
    /// Whether its callee got a cancel.
    var isCalleeTold = false
    /// How and when it ended for its caller; nil while it is open.
    var end: (code: String, ran: BusError.Ran, time: UInt64)?
}

/// A broadcast of a module.
struct JoinedBroadcast {
    let number: Int
    let sender: Int
    let node: Int
    let row: Int
    /// Its place among all requests and broadcasts that were sent.
    let sent: Int
    /// Its place among the broadcasts of its name and node, once the broker has handled it, and the life
    /// of that broker.
    var handled: (sequence: Int, brokerLife: Int)?
}
