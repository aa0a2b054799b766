/// A bus without sockets, threads and the machine's clock: what a `TestBus` may have
/// instead of a broker. All of it happens on the test's thread, while that waits.
package protocol BusInMemory: AnyObject {
    /// Its clock: it goes on where nothing else is left to happen.
    var now: ContinuousClock.Instant { get }

    func connect() throws -> any PeerLink

    /// Lets the bus go on until something has come over one of these connections, or it is
    /// that late.
    /// - Returns: which of them have something to be read, by their places.
    func awaitInput(of links: [any PeerLink], until deadline: Deadline) -> [Int]

    /// Begins the orderly end.
    func beginShutDown()

    /// Lets the bus go on to its end; false where that does not come in time.
    func join(within time: Duration) -> Bool
}
