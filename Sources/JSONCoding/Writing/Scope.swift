/// A place for one value while it is written: an encoder's, or one of a
/// container that it has become. It knows where its bytes are, not what they say.
struct Scope {
    enum Kind: UInt8 {
        case empty, scalar, array, object
        /// An object whose members are sorted when it is closed.
        case dictionary
    }

    /// Tells it from others at the same index, before and after it.
    let serial: UInt32
    /// The index of the scope that it is a member of; -1 for the outermost.
    let parent: Int32
    /// Which member it is there.
    let ordinal: Int32
    /// Where its member begins: in an object at the name's quote.
    var start: Int
    let startStream: Int32
    /// The stream that it is written to now.
    var stream: Int32
    var kind = Kind.empty
    /// Whether what is written to its stream may be its own yet, without an end
    /// of its own having been written.
    var isOpen = true
    /// Whether two of its members may have one name.
    var mayRepeat = false
    /// Arrays and objects around it, and itself if it is one.
    var depth: UInt8
    /// Members so far.
    var count: Int32 = 0
    /// Where its value begins.
    let slot: Int
    /// Where a container's members begin and, once it is closed, end.
    var contents = 0
    var end = 0
    /// A bit for each name so far, by a hash.
    var names: UInt64 = 0

    init(serial: UInt32, parent: Int32, ordinal: Int32, start: Int, slot: Int, stream: Int32, depth: UInt8) {
        self.serial = serial
        self.parent = parent
        self.ordinal = ordinal
        self.start = start
        startStream = stream
        self.slot = slot
        self.stream = stream
        self.depth = depth
    }

    /// Makes it what it was before a value was written.
    mutating func becomeEmpty() {
        if kind != .empty, kind != .scalar { depth -= 1 }
        kind = .empty
        mayRepeat = false
        count = 0
        names = 0
    }
}

/// Which scope an encoder or container writes to. It may be left over when the
/// scope is gone: then the serial tells.
struct ScopeID {
    let index: Int32
    let serial: UInt32

    /// One that never was.
    static let none = ScopeID(index: -1, serial: 0)
}

/// Bytes that belong into the middle of others: what was written to a container
/// after its parent had gone on.
struct Stream {
    var base: UnsafeMutablePointer<UInt8>?
    var count = 0
    var capacity = 0
    /// The scope on top, when another stream became the current one.
    var top: Int32
    /// The scope that it continues, the stream that its bytes belong into, and
    /// where there. The position is negative where that has been left out.
    let root: Int32
    let rootSerial: UInt32
    let parent: Int32
    var position: Int
    /// Whether all of its root is in it, and not only what was added.
    var isWhole = false
}
