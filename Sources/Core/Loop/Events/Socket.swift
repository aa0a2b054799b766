internal import CUV
internal import Glibc
public import StrataCore

/// A connected Unix stream socket on a loop.
///
/// This class reads and writes the socket itself; libuv only reports readiness (`uv_poll_t`). So
/// one turn reads a bounded number of bytes. The number of bytes that the kernel took, which is
/// what "delivered" means on the bus, is known at every moment.
public final class Socket: WatchedDescriptor {
    private var onEvent: (Event) -> Void
    private var watched: Event = []
    /// Whether the handler of the current event has called `watch`.
    private var isToldWhat = false
    /// Whether the other side closed the connection before it read everything. What it sent may
    /// still be readable, but nothing more can be written.
    public private(set) var hasFailed = false

    /// The events that a socket is watched for, or that have happened.
    public struct Event: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        public static let readable = Event(rawValue: 1)
        public static let writable = Event(rawValue: 2)
        /// The other side has closed, or shut down its writing side; for a socket which isn't being
        /// read.
        public static let hungUp = Event(rawValue: 4)
    }

    /// The result of an attempt to read or write.
    public enum Transfer: Sendable {
        case moved(Int)
        /// Nothing can be moved now; the loop reports when that changes.
        case wouldBlock
        /// The other side has closed, or shut down its writing side.
        case ended
        /// An errno.
        case failed(Int32)
    }

    /// Takes over a connected, non-blocking descriptor. It is closed with the handle, and also if
    /// this throws.
    public init(_ loop: Loop, descriptor: Int32, onEvent: @escaping (Event) -> Void = { _ in })
        throws(SystemError)
    {
        self.onEvent = onEvent
        try super.init(loop, descriptor, "poll a socket")
    }

    /// The longest that `connect` waits for a place in a full backlog, in milliseconds.
    private static let longestWait = 2_000

    /// Connects to a socket in the file system.
    ///
    /// If the listener's backlog is full, this waits in the kernel, which serves waiting clients in
    /// order. A client that polled instead would lose to one that polls more often.
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

    /// Sets the handler to call when something happens that the socket is watched for.
    public func setEventHandler(_ handler: @escaping (Event) -> Void) { onEvent = handler }

    /// Sets what to watch for from now on; an empty set stops watching.
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
            // The socket has an error. Reading returns what is left, and then the reason.
            let watched = watched
            self.watched = []
            hasFailed = true
            isToldWhat = false
            onEvent(watched.contains(.hungUp) ? .hungUp : .readable)
            // libuv has stopped polling, and there may be more to read than one turn takes.
            if !isToldWhat { watch(watched) }
            return
        }
        onEvent(Event(rawValue: UInt8(truncatingIfNeeded: events) & 7))
    }

    /// Reads what has arrived, up to the size of `space`.
    public func read(into space: UnsafeMutableRawBufferPointer) -> Transfer {
        Self.read { strata_receive(descriptor, space.baseAddress, space.count) }
    }

    /// Reads what has arrived, up to the size of `space`, and the descriptors of one frame.
    /// - Parameter received: gets the descriptors, if any came; perhaps more than a frame may have. They
    ///   aren't whole if this process may have no more (RLIMIT_NOFILE); the kernel closed the others.
    public func read(
        into space: UnsafeMutableRawBufferPointer, _ received: (_ numbers: [Int32], _ isWhole: Bool) -> Void
    ) -> Transfer {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: strata_most_sent) { numbers in
            var (count, isCut) = (0, Int32(0))
            let result = Self.read {
                strata_receive_with(descriptor, space.baseAddress, space.count, numbers.baseAddress, &count, &isCut)
            }
            if count > 0 || isCut != 0 { received(Array(numbers[..<count]), isCut == 0) }
            return result
        }
    }

    @inline(__always)
    private static func read(_ attempt: () -> Int) -> Transfer {
        while true {
            let count = attempt()
            if count > 0 { return .moved(count) }
            if count == 0 { return .ended }
            let code = errno
            if code == EINTR { continue }
            return code == EAGAIN ? .wouldBlock : .failed(code)
        }
    }

    /// Writes as many bytes as the kernel takes now.
    public func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        Self.result { strata_send(descriptor, bytes.baseAddress, bytes.count) }
    }

    /// Writes several buffers in one call.
    public func write(_ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Transfer {
        if parts.count == 1 { return write(parts[0]) }
        return withVectors(parts) { vectors in
            Self.result { strata_sendv(descriptor, vectors.baseAddress, parts.count) }
        }
    }

    /// Writes several buffers in one call, and hands descriptors over with the first byte.
    public func write(
        _ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>, with descriptors: FrameDescriptors
    ) -> Transfer {
        let numbers = descriptors.numbers
        return withVectors(parts) { vectors in
            Self.result {
                strata_sendv_with(descriptor, vectors.baseAddress, parts.count, numbers, numbers.count)
            }
        }
    }

    @inline(__always)
    private func withVectors(
        _ parts: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ use: (UnsafeMutableBufferPointer<iovec>) -> Transfer
    ) -> Transfer {
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: parts.count) { vectors in
            for index in parts.indices {
                vectors[index] = iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: parts[index].baseAddress),
                    iov_len: parts[index].count)
            }
            return use(vectors)
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

    /// Lets the other side send descriptors from now on. A socket that a `Listener` has accepted takes
    /// none before (SO_PASSRIGHTS, since Linux 6.16): `sendmsg` fails with EPERM.
    public func takeDescriptors() { strata_take_descriptors(descriptor, 1) }

    /// Ends the connection at once, and has the descriptor closed elsewhere: closing also closes the
    /// descriptors that were sent and not read, which may block.
    /// - Parameter user: the user of the process on the other side.
    public func close(by closer: any DescriptorCloser, of user: UInt32) {
        guard !isClosed else { return }
        letGo()
        shutdown(descriptor, Int32(SHUT_RDWR))
        closer.close([descriptor], of: user)
    }

    /// Returns the kernel's record of the process that connected.
    public func credentials() throws(SystemError) -> PeerCredentials {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        var gid: UInt32 = 0
        let status = strata_peer_credentials(descriptor, &pid, &uid, &gid)
        guard status == 0 else { throw SystemError(status, "ask who connected") }
        return PeerCredentials(pid: pid, uid: uid, gid: gid, seenAt: strata_boot_ticks())
    }

    /// Shuts down the writing side; reading continues.
    public func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    public override func letGo() {
        guard !isClosed else { return }
        super.letGo()
        onEvent = { _ in }
    }
}

extension Socket: Transport {
    public var carriesDescriptors: Bool { true }
}

/// Checks on a path, before a socket is made there.
public enum SocketAddress {
    /// The kernel's limit for a Unix socket's path, in bytes.
    public static let longestPath = 107

    /// The error message for a path that is too long for the kernel.
    public static func tooLong(_ path: String) -> String {
        "the socket path \(path) has \(path.utf8.count) bytes, and a Unix socket's may have "
            + "\(longestPath): choose a shorter one"
    }

    /// The kind of file at a path, if there is one.
    public enum Occupant: Sendable, Equatable {
        case nothing
        /// A socket that a process listens on.
        case live
        /// A socket that no process listens on.
        case dead
        /// A file that isn't a socket.
        case foreign
        /// The check failed; with the errno.
        case unknown(Int32)
    }

    /// Whether a path leads to a socket's file, of any kind.
    public static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Sends one datagram, without waiting.
    /// - Returns: 0, or an errno: EAGAIN if the receiver has no room.
    public static func send(datagram bytes: [UInt8], to path: String) -> Int32 {
        strata_unix_datagram(path, bytes, bytes.count)
    }

    /// Returns what is at a path. If it is a socket, this tries to connect to it.
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
