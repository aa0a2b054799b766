import StrataCore

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
