internal import StrataCore

/// An instance that this module has created, as long as it lasts: until it is
/// released, or the connection ends that it was created on.
@ModuleActor
final class InstanceLease {
    /// `Interface#NUMBER`, or the plain name of an interface that has only one.
    nonisolated let name: String
    private let isSingle: Bool
    private weak var session: Session?
    private var isReleased = false

    init(_ name: String, _ session: Session) {
        self.name = name
        isSingle = !name.utf8.contains(UInt8(ascii: "#"))
        self.session = session
    }

    /// Whether there is something to release.
    var isHeld: Bool { !isSingle && !isReleased && session?.isOpen == true }

    /// Ends it on this side.
    /// - Returns: the connection that the broker is to be told on; nil where
    ///   there is nothing to tell.
    func release() -> Session? {
        let told = isHeld ? session : nil
        isReleased = true
        return told
    }

    /// The broker could not be told.
    func keep() { isReleased = false }

    /// - Throws: `unknown-instance` where it has ended.
    func check(for what: String) throws(BusError) {
        guard !isSingle, !isHeld else { return }
        throw BusError(
            .unknownInstance,
            "\(what) was not sent: \(name) "
                + (isReleased
                    ? "has been released" : "ended with the connection that it was created on, and that was lost")
                + "; create another one with `bus.create`")
    }
}
