internal import StrataCore

/// What one connection may have at most, as hello told.
struct SessionLimits {
    var frame: UInt32 = 16 << 20
    var header: UInt32 = 16 << 10
    /// Open requests.
    var calls = 1_024
    /// Unsent bytes.
    var queue = 8 << 20

    /// Handlers of others' requests and of notices that run at once. Not told
    /// by the broker: it is this side's memory.
    static let handlers = 1_024

    init() {}

    init(_ json: JSON?) {
        self.init()
        if let value = json?["frame"]?.integer { frame = UInt32(clamping: value) }
        if let value = json?["header"]?.integer { header = UInt32(clamping: value) }
        if let value = json?["calls"]?.integer { calls = Int(clamping: value) }
        if let value = json?["queue"]?.integer { queue = Int(clamping: value) }
    }

    var ofFrames: FrameLimits { FrameLimits(frame: frame, header: header) }
}
