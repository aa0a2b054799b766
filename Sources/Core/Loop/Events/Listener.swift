public import StrataCore
internal import CUV
internal import Glibc

/// A listening Unix socket on a loop.
public final class Listener: WatchedDescriptor {
    /// How many connections one turn takes before others have theirs.
    private static let acceptedPerTurn = 64
    /// How long it listens to nobody where there is not even the spare descriptor, in
    /// milliseconds: else the loop would report the waiting connection without end.
    private static let rest: UInt64 = 100
    private var isTurnOver = false

    public let path: String
    private let loop: Loop
    /// Given up for a moment where the process has no descriptor left, so that
    /// a waiting connection can be taken and closed instead of spinning on it.
    private var spare: Int32 = -1
    /// Runs while it rests.
    private var timer: LoopTimer?
    /// Whether the socket's file is its own.
    public let removesFile: Bool
    private var onConnection: (Socket) -> Void
    /// Gets a connection for which the process has no descriptor, and may write to it: the
    /// connection is closed right after.
    public var onRefusal: (Socket) -> Void = { _ in }

    /// Binds and listens. The path is free, or this throws; see
    /// `SocketAddress.occupant`.
    /// - Parameter mode: the socket's file mode from its first moment on.
    public convenience init(
        _ loop: Loop, path: String, mode: UInt32 = 0o600, group: UInt32? = nil,
        onConnection: @escaping (Socket) -> Void
    ) throws(SystemError) {
        guard path.utf8.count <= SocketAddress.longestPath else {
            throw SystemError(ENAMETOOLONG, SocketAddress.tooLong(path))
        }
        let descriptor = strata_unix_socket()
        guard descriptor >= 0 else { throw SystemError(errno, "make a socket") }
        // The file's mode comes from the descriptor's, less the process's mask:
        // it is never wider than wanted, and chmod adds what the mask took.
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

    /// Takes over a socket that listens already; it is closed where this throws, too.
    /// - Parameters:
    ///   - path: where it lies.
    ///   - removesFile: whether the socket's file goes with it: it isn't somebody else's.
    public init(
        _ loop: Loop, path: String, descriptor: Int32, removesFile: Bool = true,
        onConnection: @escaping (Socket) -> Void
    ) throws(SystemError) {
        self.path = path
        self.removesFile = removesFile
        self.loop = loop
        self.onConnection = onConnection
        try super.init(loop, descriptor, "poll \(path)")
        _ = takeSpare()
        watch(for: UV_READABLE)
    }

    /// Takes what waits, up to a turn's bound.
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

    /// Takes a connection in the place of the spare descriptor, and closes it.
    /// - Returns: false where there is none to take, or no spare descriptor.
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

    /// Listens to nobody for a while.
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

    /// Leaves what else waits to the loop's next round; for the handler of a connection.
    public func endTurn() { isTurnOver = true }

    /// Ends listening and removes the socket's file, where that is its own.
    public override func close() {
        guard !isClosed else { return }
        // As long as it listens, nobody else takes the path for theirs.
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
