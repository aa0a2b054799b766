extension AppTable {
    /// The limits that a manifest may set; hello sends them to each peer.
    public struct Limits: Sendable, Equatable {
        /// A frame's first length, in bytes.
        public var frame: UInt32 = 16 << 20
        /// A body in a memory file, and all such bodies of one sender that are in the broker, in bytes.
        public var body = 1 << 30
        /// A frame's header, in bytes.
        public var header: UInt32 = 16 << 10
        /// The open requests of one peer.
        public var calls = 1_024
        /// The unsent bytes queued for one peer.
        public var queue = 8 << 20
        /// The requests that wait for one module while it starts.
        public var waiting = 1_024
        public var observations = 1_024
        public var interfaces = 256
        public var urls = 1_024
        public var instances = 4_096
        /// All connections; the last 16 are reserved for operators and the launcher.
        public var connections = 4_096
        /// The connections that have not said hello.
        public var unregistered = 64
        /// The bytes of one sender that wait for a module or for the authorizer.
        public var held = 8 << 20
        /// The largest body in which an adapter renames members, in bytes.
        public var adapted = 256 << 10
        /// The bytes that wait for all peers together, in queues and for modules.
        public var total = 1 << 30
        /// The requests in a chain, each made for the one before.
        public var depth = 32
        /// The broadcasts that are kept of one module for later observers.
        public var retained = 1_024

        public init() {}
    }
}

extension AppTable.Limits {
    /// Returns the limits as JSON, which is also how hello sends them.
    public func json() -> JSON {
        [
            "frame": .count(frame), "header": .count(header), "calls": .count(calls), "queue": .count(queue),
            "waiting": .count(waiting), "observations": .count(observations), "interfaces": .count(interfaces),
            "urls": .count(urls), "instances": .count(instances), "connections": .count(connections),
            "unregistered": .count(unregistered), "held": .count(held), "adapted": .count(adapted),
            "total": .count(total), "depth": .count(depth), "retained": .count(retained), "body": .count(body),
        ]
    }

    /// Returns the limits for a table. An earlier broker takes no unknown members, so the newer ones
    /// are there only if the manifest sets them.
    func tableJSON() -> JSON {
        let usual = Self()
        var leftOut: [String] = []
        if retained == usual.retained { leftOut.append("retained") }
        if body == usual.body { leftOut.append("body") }
        return .object((json().object ?? []).filter { !leftOut.contains($0.name) })
    }

    init(_ value: TableValue) throws(AppTableError) {
        self.init()
        try value.holds([
            "frame", "header", "calls", "queue", "waiting", "observations", "interfaces", "urls", "instances",
            "connections", "unregistered", "held", "adapted", "total", "depth", "retained", "body",
        ])
        try value.read("frame", into: &frame) { (v) throws(AppTableError) in try v.integer() }
        try value.read("header", into: &header) { (v) throws(AppTableError) in try v.integer() }
        try value.read("calls", into: &calls) { (v) throws(AppTableError) in try v.count() }
        try value.read("queue", into: &queue) { (v) throws(AppTableError) in try v.count() }
        try value.read("waiting", into: &waiting) { (v) throws(AppTableError) in try v.count() }
        try value.read("observations", into: &observations) { (v) throws(AppTableError) in try v.count() }
        try value.read("interfaces", into: &interfaces) { (v) throws(AppTableError) in try v.count() }
        try value.read("urls", into: &urls) { (v) throws(AppTableError) in try v.count() }
        try value.read("instances", into: &instances) { (v) throws(AppTableError) in try v.count() }
        try value.read("connections", into: &connections) { (v) throws(AppTableError) in try v.count() }
        try value.read("unregistered", into: &unregistered) { (v) throws(AppTableError) in try v.count() }
        try value.read("held", into: &held) { (v) throws(AppTableError) in try v.count() }
        try value.read("adapted", into: &adapted) { (v) throws(AppTableError) in try v.count() }
        try value.read("total", into: &total) { (v) throws(AppTableError) in try v.count() }
        try value.read("depth", into: &depth) { (v) throws(AppTableError) in try v.count() }
        try value.read("body", into: &body) { (v) throws(AppTableError) in try v.count() }
        try value.read("retained", into: &retained) { (v) throws(AppTableError) in try v.count() }
    }
}
