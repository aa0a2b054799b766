/// The ways in which the app's processes ask each other for something.
public enum RequestKind: UInt8, CaseIterable, Sendable {
    /// Bytes to a handler without `await`, one with, and one for 100 KiB each way.
    case atOnce, async, large
    /// Coded by types: answered at once, and by a handler that waits.
    case typed, typedAsync
    case open, adapted, authorized
    case stream
    /// A handler that makes a request of its own.
    case nested
    /// The caller gives the handler less time than it takes; and gives up midway.
    case hurried, cancelled
    case create, instance, release
    case report
    /// To a module that runs only when it is wanted, to the store, to a guest.
    case onDemand, store, guest
    /// The broker's own.
    case bus
    case event

    public var name: String { "\(self)" }
}
