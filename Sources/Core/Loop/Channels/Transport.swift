/// The way of a connection's bytes: a socket, or one that is made up.
public protocol Transport: AnyObject {
    /// Sets what is called when it is ready for what it is watched for.
    func setEventHandler(_ handler: @escaping (Socket.Event) -> Void)
    /// Says what to watch for from now on.
    func watch(_ events: Socket.Event)
    /// Reads what is there, at most what fits.
    func read(into space: UnsafeMutableRawBufferPointer) -> Socket.Transfer
    /// Writes several pieces as one, as much as is taken now.
    func write(_ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Socket.Transfer
    /// Ends it. Twice is once.
    func close()
}
