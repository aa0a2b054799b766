import StrataCore

typealias CallPointer = UnsafeMutablePointer<Call>

/// An open request, from the moment that the bus accepts it until its final answer. It lives in a
/// slot of a slab. The lists that contain it are linked through the call itself, so opening or
/// ending one allocates nothing.
struct Call {
    let slot: UInt32
    var generation: UInt32 = 0
    var life = RequestLife()
    /// Whether it is a call at `module/…`, whose end cancels nothing that was made for it.
    var isLifecycle = false

    /// Whether the authorizer has allowed it.
    var isAuthorized = false
    /// The number in `ActionNames` of what is asked: `Interface/action`, or a report's name.
    var action = ActionNames.none

    /// The peer that made it; nil for the bus's own. Unretained, because a peer's calls end before
    /// the peer does.
    var caller: Unmanaged<Peer>?
    var callerID: UInt64 = 0
    /// The peer that serves it. Unretained for the same reason.
    var callee: Unmanaged<Peer>?
    /// The position in the callee's outbox behind this request.
    var end: UInt64 = 0
    /// The module that it waits for. Unretained, because the module's queue keeps the call.
    var waitsFor: Unmanaged<ModuleRecord>?
    /// The copy with which a held request continues; owned.
    var held: Unmanaged<HeldRequest>?

    /// How its replies are renamed; owned, and nil for nearly all calls.
    var adaptation: Unmanaged<AdapterTable.Adaptation>?
    var deadline = Deadline()
    /// The number of requests in the chain that ends with it, each made for the one before.
    var depth: UInt32 = 1
    var stream = Stream()
    /// The most descriptors that its reply may have.
    var mostDescriptors: UInt8 = 0
    /// Whether the call table has its root: the first failure of a request that was made for it.
    /// Here and above, the four fill gaps: a larger call would take longer to open.
    var hasRoot = false
    /// Where it is counted for `bus/traffic`.
    var edge = EdgeReference()
    /// When it was opened, in nanoseconds.
    var startedAt: UInt64 = 0
    /// The state of a report's notices.
    var notices = Notices()

    var parent: CallPointer?
    var firstChild: CallPointer?
    var child = Link()
    var made = Link()
    var served = Link()

    struct Link {
        var previous: CallPointer?
        var next: CallPointer?
    }

    /// The time limit of a call.
    struct Deadline {
        static let never = UInt64.max

        /// When it expires, in milliseconds of the loop's clock; `never` if it has no deadline.
        var expiry = never
        /// The milliseconds that each step may take; 0 if there is no limit.
        var budget: UInt64 = 0
        var timer = Link()
        /// The wheel's bucket; negative if the call has no timer.
        var bucket: Int32 = -1
    }

    /// The state of its partial replies.
    struct Stream {
        /// The number of partial replies that the callee may still send.
        var credit: UInt64 = 0
        /// Credit that the callee hasn't been sent yet.
        var owed: UInt64 = 0
        /// For a request that the bus serves: whether other peers were called for it. For a call:
        /// whether it has had a partial reply.
        var wasPassedOn = false
    }

    /// The notices of a report.
    struct Notices {
        /// The number of notices without an answer.
        var open = 0
        /// The number of observations that got a notice.
        var observers = 0
    }

    static let slotBits: UInt64 = 22
    static let mostSlots = 1 << slotBits
    static let lastGeneration: UInt32 = (1 << 31) - 1

    @inline(__always)
    init(slot: UInt32, generation: UInt32 = 0) { (self.slot, self.generation) = (slot, generation) }

    /// Notes that it is in its callee's queue.
    @inline(__always)
    mutating func wasSent(to peer: Peer) {
        callee = .passUnretained(peer)
        life.take(.sent)
    }

    var kind: RequestLife.Kind { life.kind }
    var state: RequestLife.State { life.state }

    /// The bus's own number for it, which is never used twice.
    var id: UInt64 { UInt64(generation) << Self.slotBits | UInt64(slot) }
}

/// A reference to an open call that is used later, when the slot may belong to another call.
struct CallReference {
    let call: CallPointer
    let generation: UInt32

    init(_ call: CallPointer) {
        self.call = call
        generation = call.pointee.generation
    }

    init(_ call: CallPointer, generation: UInt32) {
        self.call = call
        self.generation = generation
    }

    /// Whether it is still the call that it was.
    var isOpen: Bool { call.pointee.state != .free && call.pointee.generation == generation }
}

/// The requests that were made for a call: doubly linked through the calls themselves, newest first.
extension UnsafeMutablePointer<Call> {
    /// - Parameter further: how much deeper the child is: 1 for a request of the callee, 0 for what
    ///   the bus calls for this call.
    @inline(never)
    func adopt(_ child: CallPointer, further: UInt32) {
        child.pointee.depth = pointee.depth + further
        adopt(child)
    }

    func adopt(_ child: CallPointer) {
        child.pointee.parent = self
        pointee.firstChild.push(child, \.child)
    }

    func leaveParent() {
        pointee.parent?.pointee.firstChild.remove(self, \.child)
        pointee.parent = nil
    }
}

/// The first call of a list that is doubly linked through its calls, newest first.
extension CallPointer? {
    @inline(__always)
    mutating func push(_ call: CallPointer, _ link: WritableKeyPath<Call, Call.Link>) {
        call.pointee[keyPath: link] = Call.Link(previous: nil, next: self)
        self?.pointee[keyPath: link].previous = call
        self = call
    }

    @inline(__always)
    mutating func remove(_ call: CallPointer, _ link: WritableKeyPath<Call, Call.Link>) {
        let removed = call.pointee[keyPath: link]
        if let previous = removed.previous {
            previous.pointee[keyPath: link].next = removed.next
        } else {
            self = removed.next
        }
        removed.next?.pointee[keyPath: link].previous = removed.previous
    }
}
