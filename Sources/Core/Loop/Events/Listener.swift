public import StrataCore
internal import CUV
internal import Glibc

/// A listening Unix socket on a loop.
public final class Listener: WatchedDescriptor {
    /// The most connections that are accepted in one turn, so that other input isn't kept waiting.
    private static let acceptedPerTurn = 64
    /// How long to stop listening if not even the spare descriptor is available, in milliseconds.
    /// Otherwise the loop would report the waiting connection over and over.
    private static let rest: UInt64 = 100
    private var isTurnOver = false

    public let path: String
    private let loop: Loop
    /// A descriptor that is closed briefly when the process has none left. That makes room to
    /// accept and close a waiting connection, instead of spinning on it.
    private var spare: Int32 = -1
    /// Ends the pause that follows when no descriptor is left.
    private var timer: LoopTimer?
    /// Whether this listener owns the socket's file, and removes it on close.
    public let removesFile: Bool
    private var onConnection: (Socket) -> Void
    /// Called with a connection for which the process has no descriptor. The handler may write to
    /// it; the connection is closed right after.
    public var onRefusal: (Socket) -> Void = { _ in }

    /// Binds a socket and listens on it. Throws if the path is taken; see `SocketAddress.occupant`.
    /// - Parameter mode: the file mode of the socket, from its creation on.
    public convenience init(
        _ loop: Loop, path: String, mode: UInt32 = 0o600, group: UInt32? = nil,
        onConnection: @escaping (Socket) -> Void
    ) throws(SystemError) {
        guard path.utf8.count <= SocketAddress.longestPath else {
            throw SystemError(ENAMETOOLONG, SocketAddress.tooLong(path))
        }
        let descriptor = strata_unix_socket()
        guard descriptor >= 0 else { throw SystemError(errno, "make a socket") }
        // The file gets the descriptor's mode, less the process's umask. So it is never wider than
        // wanted, and chmod adds what the umask removed.
        fchmod(descriptor, mode_t(mode))
        var status = strata_unix_bind(descriptor, path)
        if status == 0, chmod(path, mode_t(mode)) != 0 { status = errno }
        if status == 0, let group, chown(path, uid_t.max, group) != 0 { status = errno }
        if status == 0, listen(descriptor, SOMAXCONN) != 0 { status = errno }
        guard status == 0 else {
            Glibc.close(descriptor)
            throw SystemError(status, "listen on \(path)")
        }
        try self.init(loop, path: path, descriptor: descriptor, onConnection: onConnection)
    }

    /// Takes over a socket that already listens; it is closed even if this throws.
    /// - Parameters:
    ///   - path: the path of the socket's file.
    ///   - removesFile: whether to remove the file on close; false if it belongs to another
    ///     program.
    public init(
        _ loop: Loop, path: String, descriptor: Int32, removesFile: Bool = true,
        onConnection: @escaping (Socket) -> Void
    ) throws(SystemError) {
        self.path = path
        self.removesFile = removesFile
        self.loop = loop
        self.onConnection = onConnection
        try super.init(loop, descriptor, "poll \(path)")
        // Descriptors that nobody takes are closed by the kernel while this process reads, which may
        // block: so they are refused where they are sent.
        strata_take_descriptors(descriptor, 0)
        _ = takeSpare()
        watch(for: UV_READABLE)
    }

    /// Accepts the waiting connections, up to the limit of one turn.
    override func happened(_ status: Int32, _ events: Int32) {
        isTurnOver = false
        for _ in 0..<Self.acceptedPerTurn {
            guard !isClosed, !isTurnOver else { return }
            let accepted = strata_accept(descriptor)
            if accepted >= 0 {
                if let socket = try? Socket(loop, descriptor: accepted) { onConnection(socket) }
                continue
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE: guard refuse() else { return }
            default: return
            }
        }
    }

    /// Accepts a connection in place of the spare descriptor, and closes it.
    /// - Returns: false if no connection was waiting, or there was no spare descriptor.
    private func refuse() -> Bool {
        guard takeSpare() else {
            pause()
            return false
        }
        Glibc.close(spare)
        spare = -1
        let refused = strata_accept(descriptor)
        if refused >= 0, let socket = try? Socket(loop, descriptor: refused) {
            onRefusal(socket)
            socket.close()
        }
        if !isClosed { _ = takeSpare() }
        return refused >= 0
    }

    private func takeSpare() -> Bool {
        if spare < 0 { spare = open("/dev/null", O_RDONLY | O_CLOEXEC) }
        return spare >= 0
    }

    /// Stops listening for `rest` milliseconds.
    private func pause() {
        watch(mask: 0)
        let timer =
            timer
            ?? LoopTimer(loop) { [unowned self] in
                guard !isClosed else { return }
                watch(for: UV_READABLE)
            }
        timer.start(after: Self.rest)
        self.timer = timer
    }

    /// Leaves the remaining connections to the loop's next round; for the connection handler to
    /// call.
    public func endTurn() { isTurnOver = true }

    /// Stops listening, and removes the socket's file if the listener owns it.
    public override func close() {
        guard !isClosed else { return }
        // Unlinked while it still listens, so no other process takes the path for a dead socket's.
        if removesFile { unlink(path) }
        super.close()
    }

    public override func letGo() {
        guard !isClosed else { return }
        super.letGo()
        timer?.close()
        onConnection = { _ in }
        onRefusal = { _ in }
        if spare >= 0 { Glibc.close(spare) }
    }
}
