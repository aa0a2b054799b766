import StrataCore

/// A frame that the bus lets pass or refuses, while it is in hand. Made only
/// where somebody monitors; all its bytes are somebody else's, and are gone when
/// the frame is handled. What is kept of it is a `FrameNote`.
struct MonitoredFrame: ~Copyable {
    let kind: Header.Kind
    /// The bus's number of a call, which its answers have too; 0 for none.
    var id: UInt64 = 0
    /// A module's name, `operator`, `launcher` or `bus`.
    let from: Header.Text
    /// The same, or `Interface/action`, or the URL of a refused `open`; empty
    /// on a broadcast.
    let to: Header.Text
    /// Who gets it, where neither `callee` nor `to` says that.
    var receiver: Header.Text?
    /// The module that serves a call, where one is known: `to` names its interface.
    var callee: Header.Text?
    var name: Header.Text?
    var code: Header.Text?
    /// Of a call that an `open` became.
    var url: Header.Text?
    /// The kind as it was written, where it is none of the known ones.
    var unknownKind: Header.Text?
    let body: Header.Text

    /// Who gets it: what `module` is compared with.
    @inline(__always) var target: Header.Text { receiver ?? callee ?? to }

    /// What the bus calls itself.
    static var bus: Header.Text {
        let name: StaticString = "bus"
        return Header.Text(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }
}

/// The request that is being handled, while somebody monitors: whether it
/// passes is known only later. Its bytes are the frame's.
struct FrameInHand {
    unowned(unsafe) let peer: Peer  // because who handles the frame holds it
    /// Of the frame, which is handled as long as this is there.
    let header: UnsafePointer<Header>
    let body: UnsafeRawBufferPointer
    /// The bus answers it itself: nothing else says that it passed.
    var isServed = false
    var isTold = false

    init(peer: Peer, header: UnsafePointer<Header>, body: UnsafeRawBufferPointer) {
        self.peer = peer
        self.header = header
        self.body = body
    }

    var name: Header.Text? { header.pointee.members.contains(.name) ? header.pointee.name : nil }
}

/// What is kept of a frame until monitors are sent it: a record of fixed size, whose
/// texts and body stand one after another in the bytes of a `NoteRing`.
struct FrameNote {
    /// Bodies of more bytes are never kept.
    static let largestBody = 64 << 10
    /// A body of more values counts as none: reading it would take long.
    static let mostValues = 4_096
    /// Bodies that are deeper would make the partial reply deeper than the 64
    /// that readers of the bus's bodies take.
    static let deepestBody = 63

    /// Whether the body was kept with it.
    enum Body: UInt8 {
        /// Nobody wants it.
        case unwanted
        case kept
        /// It is over `largestBody`.
        case tooLarge
        /// The ring had no room for it.
        case noRoom
    }

    /// In microseconds since 1970.
    var at: UInt64 = 0
    /// The bus's number of the call; 0 for none. Of a gap: how many frames were missed.
    var id: UInt64 = 0
    /// The monitors that are sent it, by their bits.
    var monitors: UInt16 = 0
    var kind = Header.Kind.unknown
    /// No frame: the monitor of its one bit missed `id` frames.
    var isGap = false
    var body = Body.unwanted
    /// Where its texts begin in the ring's bytes.
    var offset = 0
    /// The texts' lengths in bytes, in their order there; negative where there is none.
    var from: Int32 = 0
    var to: Int32 = 0
    var callee: Int32 = -1
    var name: Int32 = -1
    var code: Int32 = -1
    var url: Int32 = -1
    var unknownKind: Int32 = -1
    /// The body's length, kept or not.
    var bodyCount = 0
}
