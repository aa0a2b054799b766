internal import CUV
internal import Glibc
public import StrataCore

/// A connected Unix stream socket on a loop.
///
/// It is read and written directly, and libuv only says when (`uv_poll_t`):
/// so a turn's reading has a bound, and how many bytes the kernel took is
/// known at every moment, which is what "delivered" means on the bus.
public final class Socket: WatchedDescriptor {
    private var onEvent: (Event) -> Void
    private var watched: Event = []
    /// Whether the handler of the present event has said what to watch for.
    private var isToldWhat = false
    /// Whether the other side has closed without reading all: what it sent may still be
    /// there, and nothing more can be written.
    public private(set) var hasFailed = false

    /// What a socket is watched for, and what has come.
    public struct Event: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        public static let readable = Event(rawValue: 1)
        public static let writable = Event(rawValue: 2)
        /// The other side has closed, or shut down its writing side: for a
        /// socket that isn't read for now.
        public static let hungUp = Event(rawValue: 4)
    }

    /// How an attempt to read or write went.
    public enum Transfer: Sendable {
        case moved(Int)
        /// Nothing can be moved now; the loop says when.
        case wouldBlock
        /// The other side has closed, or shut down its writing side.
        case ended
        /// An errno.
        case failed(Int32)
    }

    /// Takes over a connected, non-blocking descriptor; it is closed with the
    /// handle, and where this throws.
    public init(_ loop: Loop, descriptor: Int32, onEvent: @escaping (Event) -> Void = { _ in })
        throws(SystemError)
    {
        self.onEvent = onEvent
        try super.init(loop, descriptor, "poll a socket")
    }

    /// How long connecting waits for a place in a full backlog, in milliseconds.
    private static let longestWait = 2_000

    /// Connects to a socket of the file system. Where the listener's backlog is full it
    /// waits in the kernel, which serves waiting clients in their order. A client that
    /// tried again instead would lose to one that tries more often.
    public static func connect(_ loop: Loop, path: String) throws(SystemError) -> Socket {
        guard path.utf8.count <= SocketAddress.longestPath else {
            throw SystemError(ENAMETOOLONG, SocketAddress.tooLong(path))
        }
        let descriptor = strata_unix_socket()
        guard descriptor >= 0 else { throw SystemError(errno, "make a socket") }
        let status = strata_unix_connect_waiting(descriptor, path, longestWait)
        guard status == 0 else {
            Glibc.close(descriptor)
            throw SystemError(status, "connect to \(path)")
        }
        return try Socket(loop, descriptor: descriptor)
    }

    /// Sets what is called when the socket is ready for what it is watched for.
    public func setEventHandler(_ handler: @escaping (Event) -> Void) { onEvent = handler }

    /// Says what to watch for from now on; nothing stops it.
    public func watch(_ events: Event) {
        isToldWhat = true
        guard !isClosed, events != watched else { return }
        watched = events
        var mask: Int32 = 0
        if events.contains(.readable) { mask |= Int32(UV_READABLE.rawValue) }
        if events.contains(.writable) { mask |= Int32(UV_WRITABLE.rawValue) }
        if events.contains(.hungUp) { mask |= Int32(UV_DISCONNECT.rawValue) }
        watch(mask: mask)
    }

    override func happened(_ status: Int32, _ events: Int32) {
        guard status == 0 else {
            // An error of the socket: reading tells what is left and why.
            let watched = watched
            self.watched = []
            hasFailed = true
            isToldWhat = false
            onEvent(watched.contains(.hungUp) ? .hungUp : .readable)
            // There may be more to read than one turn takes.
            if !isToldWhat { watch(watched) }
            return
        }
        onEvent(Event(rawValue: UInt8(truncatingIfNeeded: events) & 7))
    }

    /// Reads what is there, at most what fits.
    public func read(into space: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = strata_receive(descriptor, space.baseAddress, space.count)
            if count > 0 { return .moved(count) }
            if count == 0 { return .ended }
            let code = errno
            if code == EINTR { continue }
            return code == EAGAIN ? .wouldBlock : .failed(code)
        }
    }

    /// Writes as much as the kernel takes now.
    public func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        Self.result { strata_send(descriptor, bytes.baseAddress, bytes.count) }
    }

    /// Writes several pieces as one.
    public func write(_ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Transfer {
        if parts.count == 1 { return write(parts[0]) }
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: parts.count) { vectors in
            for index in parts.indices {
                vectors[index] = iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: parts[index].baseAddress),
                    iov_len: parts[index].count)
            }
            return Self.result { strata_sendv(descriptor, vectors.baseAddress, parts.count) }
        }
    }

    @inline(__always)
    private static func result(_ attempt: () -> Int) -> Transfer {
        while true {
            let count = attempt()
            if count >= 0 { return .moved(count) }
            let code = errno
            if code == EINTR { continue }
            return code == EAGAIN ? .wouldBlock : .failed(code)
        }
    }

    /// Who connected, from the kernel.
    public func credentials() throws(SystemError) -> PeerCredentials {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        var gid: UInt32 = 0
        let status = strata_peer_credentials(descriptor, &pid, &uid, &gid)
        guard status == 0 else { throw SystemError(status, "ask who connected") }
        return PeerCredentials(pid: pid, uid: uid, gid: gid, seenAt: strata_boot_ticks())
    }

    /// Says that nothing more will be written; reading goes on.
    public func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    public override func letGo() {
        guard !isClosed else { return }
        super.letGo()
        onEvent = { _ in }
    }
}

extension Socket: Transport {}

/// What can be said of a path before a socket is made of it.
public enum SocketAddress {
    /// The kernel's limit for a Unix socket's path, in bytes.
    public static let longestPath = 107

    /// The message for a path that the kernel would cut off.
    public static func tooLong(_ path: String) -> String {
        "the socket path \(path) has \(path.utf8.count) bytes, and a Unix socket's may have "
            + "\(longestPath): choose a shorter one"
    }

    /// What stands at a path.
    public enum Occupant: Sendable, Equatable {
        case nothing
        /// A socket that somebody listens on.
        case live
        /// A socket that nobody listens on.
        case dead
        /// A file that is no socket.
        case foreign
        /// It can't be told: an errno.
        case unknown(Int32)
    }

    /// Whether a path leads to a socket's file, of whatever kind.
    public static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Sends one datagram, without waiting.
    /// - Returns: 0, or an errno: EAGAIN where its receiver has no room.
    public static func send(datagram bytes: [UInt8], to path: String) -> Int32 {
        strata_unix_datagram(path, bytes, bytes.count)
    }

    /// Looks at a path, and tries a connection where a socket is.
    public static func occupant(_ path: String) -> Occupant {
        var status = stat()
        guard lstat(path, &status) == 0 else { return errno == ENOENT ? .nothing : .unknown(errno) }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return .foreign }
        let descriptor = strata_unix_socket()
        guard descriptor >= 0 else { return .unknown(errno) }
        defer { close(descriptor) }
        switch strata_unix_connect(descriptor, path) {
        case 0, EAGAIN: return .live
        case ECONNREFUSED: return .dead
        case ENOENT: return .nothing
        case let code: return .unknown(code)
        }
    }
}
