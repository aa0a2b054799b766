/// The space for one value that is being written, by an encoder or by a container made from it. It
/// knows the positions of its bytes, not their meaning.
struct Scope {
    enum Kind: UInt8 {
        case empty, scalar, array, object
        /// An object whose members are sorted when it is closed.
        case dictionary
    }

    /// A number that no other scope has, at this index or any other.
    let serial: UInt32
    /// The index of the scope that this one is a member of; -1 for the outermost.
    let parent: Int32
    /// The index of this member in its parent.
    let ordinal: Int32
    /// The start of its member; in an object, the name's opening quote.
    var start: Int
    let startStream: Int32
    /// The stream to which the scope is currently written.
    var stream: Int32
    var kind = Kind.empty
    /// Whether new bytes in its stream may still belong to it, since its end is not written yet.
    var isOpen = true
    /// Whether two of its members may have the same name.
    var mayRepeat = false
    /// The number of arrays and objects around it, including itself if it is one.
    var depth: UInt8
    /// The number of members so far.
    var count: Int32 = 0
    /// The position where its value begins.
    let slot: Int
    /// The positions where a container's members begin and, once it is closed, end.
    var contents = 0
    var end = 0
    /// One bit, from a hash, for each name so far.
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

    /// Resets it to the state before a value was written.
    mutating func becomeEmpty() {
        if kind != .empty, kind != .scalar { depth -= 1 }
        kind = .empty
        mayRepeat = false
        count = 0
        names = 0
    }
}

/// The scope that an encoder or container writes to. The scope may be gone by then, which the
/// serial number reveals.
struct ScopeID {
    let index: Int32
    let serial: UInt32

    /// The id of no scope.
    static let none = ScopeID(index: -1, serial: 0)
}

/// Bytes that belong into the middle of another stream. They were written to a container after its
/// parent had continued.
struct Stream {
    var base: UnsafeMutablePointer<UInt8>?
    var count = 0
    var capacity = 0
    /// The innermost open scope when another stream became the current one.
    var top: Int32
    /// `root` is the scope that the stream continues, and `parent` the stream that its bytes belong
    /// into. `position` is the place in the parent; it is negative if the stream is discarded.
    let root: Int32
    let rootSerial: UInt32
    let parent: Int32
    var position: Int
    /// Whether it contains all of its root's bytes, and not only an addition.
    var isWhole = false
}
