import StrataCore

/// One observation of one module: ends with its connection.
final class Observation {
    /// The observer's number for it.
    let id: UInt64
    let name: [UInt8]
    /// Nil: of any object.
    let object: [UInt8]?
    let keep: AppTable.Keep
    /// Unretained, because a peer's observations are taken out before it goes.
    let unretainedPeer: Unmanaged<Peer>
    var peer: Peer { unretainedPeer.takeUnretainedValue() }
    let rank: Int
    /// Whether only the observer's row asked for it.
    let isOfRow: Bool

    /// Of `latest`: the position behind the notice that waits in the outbox.
    var waitingEnd: UInt64 = 0
    /// How many notices the one that waits has replaced.
    var missed = 0
    /// Its place among all that were put into the table.
    var place: UInt64 = 0
    /// It is taken out of the table: nothing is delivered to it any more.
    var isEnded = false

    init(id: UInt64, name: [UInt8], object: [UInt8]?, keep: AppTable.Keep, peer: Peer, rank: Int, isOfRow: Bool) {
        self.id = id
        self.name = name
        self.object = object
        self.keep = keep
        unretainedPeer = .passUnretained(peer)
        self.rank = rank
        self.isOfRow = isOfRow
    }

    /// What is observed: two observations of one target get the same notices.
    struct Target: Hashable {
        var name: [UInt8]
        var object: [UInt8]?

        init(_ observation: Observation) {
            name = observation.name
            object = observation.object
        }

        init(_ observed: AppTable.Observed) {
            name = Array(observed.name.utf8)
            object = observed.object.map { Array($0.utf8) }
        }
    }

    /// What it counts towards the bytes that its observer may have it keep.
    var cost: Int { name.count + (object?.count ?? 0) }

    func matches(_ object: UnsafeRawBufferPointer?) -> Bool {
        guard let wanted = self.object else { return true }
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
