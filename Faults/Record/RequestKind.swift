/// The ways in which the app's processes send requests to each other.
public enum RequestKind: UInt8, CaseIterable, Sendable {
    /// Bytes, to a handler without `await`, to one with it, and with 300 KiB each way, which go in memory
    /// files on one node.
    case atOnce, async, large
    /// Typed, answered at once, and answered by a handler that waits.
    case typed, typedAsync
    case open, adapted, authorized
    case stream
    /// To a handler that makes a request of its own.
    case nested
    /// With a deadline shorter than the handler's work, and with a caller that gives up midway.
    case hurried, cancelled
    case create, instance, release
    case report
    /// To a module that runs on demand, to the store, and to a guest.
    case onDemand, store, guest
    /// To the broker itself.
    case bus
    case event
    /// To a role with replicas, with a key.
    case keyed
    /// With a descriptor each way.
    case described

    public var name: String { "\(self)" }

    /// Whether such a request to that role has a key.
    public func hasKey(to role: Role) -> Bool { self == .keyed || self == .authorized && role.replicas != nil }
}
