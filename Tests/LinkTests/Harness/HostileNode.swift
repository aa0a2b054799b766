@testable import StrataLink

/// What hears on a node's connection to NATS beside its link.
final class HostileNode: NATSConnection.Handler {
    private(set) var isConnected = false
    /// The subscriptions that brought something.
    private(set) var heard: Set<Int> = []

    func natsConnected() { isConnected = true }
    func natsDisconnected() { isConnected = false }
    /// Why it can't connect.
    private(set) var failures: [String] = []
    func natsFailed(_ why: String) { failures.append(why) }
    func natsGaveUp(_ why: String) { failures.append(why) }
    func natsReceived(_ index: Int, isPiece: Bool, _ bytes: UnsafeRawBufferPointer) { heard.insert(index) }
    func natsNoResponders(_ index: Int) {}
}
