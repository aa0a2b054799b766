internal import StrataCore

/// The limits of one connection, as the broker's answer to hello states them.
struct SessionLimits {
    var frame: UInt32 = 16 << 20
    var header: UInt32 = 16 << 10
    /// The longest body in a memory file, in bytes; 0 if the broker takes none.
    var body = 0
    /// The most open requests.
    var calls = 1_024
    /// The most unsent bytes.
    var queue = 8 << 20

    /// The most handlers that run at once, for other modules' requests and for notices. The broker
    /// doesn't set it: it protects this side's memory.
    static let handlers = 1_024

    init() {}

    init(_ json: JSON?) {
        self.init()
        if let value = json?["frame"]?.integer { frame = UInt32(clamping: value) }
        if let value = json?["header"]?.integer { header = UInt32(clamping: value) }
        if let value = json?["body"]?.integer { body = Int(clamping: value) }
        if let value = json?["calls"]?.integer { calls = Int(clamping: value) }
        if let value = json?["queue"]?.integer { queue = Int(clamping: value) }
    }

    var ofFrames: FrameLimits { FrameLimits(frame: frame, header: header) }
}
