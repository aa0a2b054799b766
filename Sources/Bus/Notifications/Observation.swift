import StrataCore

/// One observation of one module: ends with its connection.
final class Observation {
    let terms: Terms
    /// Unretained, because a peer's observations are taken out before it goes.
    let unretainedPeer: Unmanaged<Peer>
    var peer: Peer { unretainedPeer.takeUnretainedValue() }

    /// Of `latest`: the position behind the notice that waits in the outbox.
    var waitingEnd: UInt64 = 0
    /// How many notices the one that waits has replaced.
    var missed = 0
    /// Its place among all that were put into the table.
    var place: UInt64 = 0
    /// It is taken out of the table: nothing is delivered to it any more.
    var isEnded = false

    init(_ terms: Terms, of peer: Peer) {
        self.terms = terms
        unretainedPeer = .passUnretained(peer)
    }

    /// What was asked for, and by whom.
    struct Terms: StatePart {
        /// The observer's number for it.
        var id: UInt64 = 0
        var target = Target()
        var keep = AppTable.Keep.all
        /// The observer's.
        var rank = 0
        /// Whether only the observer's row asked for it.
        var isOfRow = false

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &id)
            try file(2, &target)
            try file(3, &keep)
            try file(4, &rank)
            try file(5, &isOfRow)
        }
    }

    /// What is observed: two observations of one target get the same notices.
    struct Target: Hashable, StatePart {
        var name: [UInt8] = []
        /// Nil: of any object.
        var object: [UInt8]?

        init() {}

        init(_ observed: AppTable.Observed) {
            name = Array(observed.name.utf8)
            object = observed.object.map { Array($0.utf8) }
        }

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &name)
            try file(2, &object)
        }
    }

    /// What it counts towards the bytes that its observer may have it keep.
    var cost: Int { terms.target.name.count + (terms.target.object?.count ?? 0) }

    func matches(_ object: UnsafeRawBufferPointer?) -> Bool {
        guard let wanted = terms.target.object else { return true }
        guard let object else { return false }
        return wanted.count == object.count && wanted.elementsEqual(object)
    }
}

/// A broadcast's notice whose bytes are its own: the frame that it came in is gone,
/// and some still have to get it.
struct KeptNotice {
    var from: [UInt8]
    var level: [UInt8]
    var object: [UInt8]?
    var trace: [UInt8]
    var meta: [UInt8]
    var body: Payload
}

/// A notification on its way to observers, as bytes of the sender's frame.
struct Notice {
    var name: UnsafeRawBufferPointer
    var object: UnsafeRawBufferPointer?
    var from: UnsafeRawBufferPointer
    var level: UnsafeRawBufferPointer
    var via: StaticString
    var trace: UnsafeRawBufferPointer
    var meta: UnsafeRawBufferPointer
    var body: UnsafeRawBufferPointer
}
