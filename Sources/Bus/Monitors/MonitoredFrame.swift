import StrataCore

/// A frame that the bus lets pass or refuses, while it is being handled. Made only if there is a
/// monitor. It doesn't own its bytes, which are freed after the frame is handled. A `FrameNote` is
/// what is kept of it.
struct MonitoredFrame: ~Copyable {
    let kind: Header.Kind
    /// The bus's number of a call, which its answers have too; 0 if there is none.
    var id: UInt64 = 0
    /// The bus's number of the open request that a call was made for; 0 if there is none.
    var parent: UInt64 = 0
    /// A module's name, `operator`, `launcher` or `bus`.
    let from: Header.Text
    /// A name like `from`, or `Interface/action`, or the URL of a refused `open`; empty for a
    /// broadcast.
    let to: Header.Text
    /// The receiver, if neither `callee` nor `to` names it.
    var receiver: Header.Text?
    /// The module that serves a call, if it is known; `to` names its interface.
    var callee: Header.Text?
    var name: Header.Text?
    var object: Header.Text?
    var code: Header.Text?
    /// The URL, for a call that an `open` became.
    var url: Header.Text?
    /// The kind as it was written, if it isn't a known one.
    var unknownKind: Header.Text?
    /// Whether further replies follow this one.
    var isPartial = false
    /// Whether a notice is of a report.
    var isReported = false
    /// The number of the application's descriptors that come with it.
    var descriptors: UInt8 = 0
    let body: Header.Text

    /// The receiver, which `module` is compared with.
    @inline(__always) var target: Header.Text { receiver ?? callee ?? to }

    /// What an edge of such frames is named for: a call's interface, or the notification.
    var edgeName: Header.Text {
        switch kind {
        case .call: to.interfaceName
        // URLs are without number.
        case .open: .none
        case .unknown, .reply, .error, .cancel, .credit, .broadcast, .report, .notice: name ?? .none
        }
    }

    /// The bus's name for itself.
    static var bus: Header.Text {
        let name: StaticString = "bus"
        return Header.Text(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }
}

extension Header.Text {
    /// The interface of `Interface/action` or `Interface#N/action`; all bytes of another text.
    var interfaceName: Header.Text {
        Header.Text(rebasing: prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "#") })
    }
}

extension Header.Text? {
    /// The number of its bytes; 0 if there is no text.
    var byteCount: Int { self?.count ?? 0 }
}

/// The request that is being handled while there is a monitor. Whether it passes is known only
/// later. Its bytes are the frame's.
struct FrameInHand {
    unowned(unsafe) let peer: Peer  // because the code that handles the frame holds it
    /// The header of the frame, which outlives this.
    let header: UnsafePointer<Header>
    let body: UnsafeRawBufferPointer
    /// Whether the bus itself answers it, so that nothing else notes that it passed.
    var isServed = false
    /// Whether it is noted already.
    var isTold = false

    init(peer: Peer, header: UnsafePointer<Header>, body: UnsafeRawBufferPointer) {
        self.peer = peer
        self.header = header
        self.body = body
    }

    var name: Header.Text? { header.pointee.members.contains(.name) ? header.pointee.name : nil }
}

/// The part of a frame that is kept until it is sent to monitors. Its size is fixed; its texts and
/// body follow one another in the bytes of a `NoteRing`.
struct FrameNote {
    /// Of a larger body only the start is kept, in bytes.
    static let largestBody = 64 << 10
    /// How much of it, in bytes.
    static let start = 4 << 10
    /// A body with more values isn't sent, because reading it would take long.
    static let mostValues = 4_096
    /// A deeper body isn't sent. It would make the partial reply deeper than the 64 levels that
    /// readers of the bus's bodies accept.
    static let deepestBody = 63

    /// Whether the body was kept with the note.
    enum Body: UInt8 {
        /// No monitor wants it.
        case unwanted
        case kept
        /// It is over `largestBody`, and its start was kept.
        case begun
        /// The ring had no room for it.
        case noRoom
    }

    /// When the frame was handled, in microseconds since 1970.
    var at: UInt64 = 0
    /// The bus's number of the call; 0 if there is none. For a gap: the number of missed frames.
    var id: UInt64 = 0
    /// The bus's number of the call's parent; 0 if there is none. For a gap: the number of frames
    /// of the next one's edge that were left out.
    var parent: UInt64 = 0
    /// The bits of the monitors that it is sent to.
    var monitors: UInt16 = 0
    var kind = Header.Kind.unknown
    /// Whether it is a partial reply.
    var isPartial = false
    /// Whether it is a notice of a report.
    var isReported = false
    /// Whether this is no frame, but a gap: the one monitor missed `id` frames, and `parent` were
    /// left out.
    var isGap = false
    var body = Body.unwanted
    /// The number of descriptors that came with it.
    var descriptors: UInt8 = 0
    /// Where its texts begin in the ring's bytes.
    var offset = 0
    /// The texts' lengths in bytes, in the order in which they are stored; negative for an absent
    /// text.
    var from: Int32 = 0
    var to: Int32 = 0
    var callee: Int32 = -1
    var name: Int32 = -1
    var code: Int32 = -1
    var url: Int32 = -1
    var unknownKind: Int32 = -1
    var object: Int32 = -1
    /// The body's length, whether it was kept or not.
    var bodyCount = 0
}
