internal import StrataCore

/// The requests of this side that have no final answer yet. An id is a slot and
/// its generation, so that finding one takes no hashing.
@ModuleActor
struct RequestTable {
    /// What an answer goes to.
    enum Receiver {
        case once(UnsafeContinuation<[UInt8], any Error>)
        /// Called as the answer is read, before any frame behind it.
        case callback((Result<[UInt8], BusError>) -> Void)
        case stream(ReplyBuffer)
        /// Nobody waits any more; the id is still the broker's.
        case nobody
    }

    struct Request {
        var receiver: Receiver
        /// Where its frame ends in the connection's outgoing bytes.
        var position: UInt64
        /// What was asked, for messages.
        var what: String
    }

    private struct Slot {
        var generation: UInt64 = 1
        var request: Request?
    }

    private static let slotBits: UInt64 = 20
    private static let generations: UInt64 = 1 << 32

    private var slots: [Slot] = []
    private var free: [Int] = []
    private(set) var count = 0

    /// An id for `add`, or for `giveBack`.
    mutating func takeID() -> UInt64 {
        if let index = free.popLast() { return slots[index].generation << Self.slotBits | UInt64(index) }
        slots.append(Slot())
        return 1 << Self.slotBits | UInt64(slots.count - 1)
    }

    /// Nothing was sent under an id.
    mutating func giveBack(_ id: UInt64) {
        let index = Int(id & (1 << Self.slotBits - 1))
        // Not where all have been taken out meanwhile.
        if index < slots.count { free.append(index) }
    }

    /// Enters a request under what `takeID` gave.
    mutating func add(_ request: Request, _ id: UInt64) {
        slots[Int(id & (1 << Self.slotBits - 1))].request = request
        count += 1
    }

    /// The open request of that id; nil where it isn't open.
    subscript(id: UInt64) -> Request? {
        get {
            guard let index = index(of: id) else { return nil }
            return slots[index].request
        }
        set {
            guard let index = index(of: id), let newValue else { return }
            slots[index].request = newValue
        }
    }

    /// Takes a request out: its final answer has come.
    mutating func remove(_ id: UInt64) -> Request? {
        guard let index = index(of: id), let request = slots[index].request.take() else { return nil }
        slots[index].generation = slots[index].generation % Self.generations + 1
        free.append(index)
        count -= 1
        return request
    }

    /// Takes all out.
    mutating func removeAll() -> [Request] {
        let requests = slots.compactMap(\.request)
        slots = []
        free = []
        count = 0
        return requests
    }

    private func index(of id: UInt64) -> Int? {
        let index = Int(id & (1 << Self.slotBits - 1))
        guard index < slots.count, slots[index].generation == id >> Self.slotBits, slots[index].request != nil
        else { return nil }
        return index
    }
}
