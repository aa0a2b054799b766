import StrataCore

typealias CallPointer = UnsafeMutablePointer<Call>

/// An open request, from the moment that the bus took it until its final
/// answer. Lives in a slab at a place of its own; the lists that it is in are
/// links in itself, so that opening and ending one allocates nothing.
struct Call {
    let slot: UInt32
    var generation: UInt32 = 0
    var life = RequestLife()
    /// A call at `module/…`: its end cancels nothing that was made for it.
    var isLifecycle = false

    /// The authorizer has allowed it.
    var isAuthorized = false
    /// Which action it is of, as `ActionNames` numbers them; `none` for what is no
    /// module's action.
    var action = ActionNames.none

    /// Who asked; nil where the bus itself did. Unretained, because a
    /// peer's calls end before the peer does.
    var caller: Unmanaged<Peer>?
    var callerID: UInt64 = 0
    /// Who serves it. Unretained for the same reason.
    var callee: Unmanaged<Peer>?
    /// The position in the callee's outbox behind this request.
    var end: UInt64 = 0
    /// The module that it waits for. Unretained: the module's queue holds it.
    var waitsFor: Unmanaged<ModuleRecord>?
    /// What a held request needs to go on; owned.
    var held: Unmanaged<HeldRequest>?

    /// How its replies are renamed; owned, nil for nearly all.
    var adaptation: Unmanaged<AdapterTable.Adaptation>?
    var deadline = Deadline()
    var stream = Stream()
    /// In nanoseconds.
    var startedAt: UInt64 = 0
    /// Of a report.
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

    /// How long it may take.
    struct Deadline {
        static let never = UInt64.max

        /// When the loop's clock ends it; `never` for none.
        var expiry = never
        /// The milliseconds of a step; 0 for none.
        var budget: UInt64 = 0
        var timer = Link()
        /// The wheel's bucket; negative where it has no timer.
        var bucket: Int32 = -1
    }

    /// Its partial replies.
    struct Stream {
        /// How many the callee may still send.
        var credit: UInt64 = 0
        /// Credit that its callee has not been told of yet.
        var owed: UInt64 = 0
        /// Of a request that the bus serves: others were asked for it. Of a call: it has had
        /// a partial reply.
        var wasPassedOn = false
    }

    /// The notices of a report.
    struct Notices {
        /// Those without an answer.
        var open = 0
        /// How many observations got one.
        var observers = 0
    }

    static let slotBits: UInt64 = 22
    static let mostSlots = 1 << slotBits
    static let lastGeneration: UInt32 = (1 << 31) - 1

    init(slot: UInt32) { self.slot = slot }

    /// It stands in its callee's queue.
    @inline(__always)
    mutating func wasSent(to peer: Peer) {
        callee = .passUnretained(peer)
        life.take(.sent)
    }

    var kind: RequestLife.Kind { life.kind }
    var state: RequestLife.State { life.state }

    /// The bus's own number for it, never used twice.
    var id: UInt64 { UInt64(generation) << Self.slotBits | UInt64(slot) }
}

/// An open call that somebody comes back to: its slot may be another call's by
/// then.
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
