internal import StrataCore
internal import CUV
internal import Glibc

/// The interface to a service manager such as systemd: sd_notify(3), sd_watchdog_enabled(3) and
/// sd_listen_fds(3). All of it comes from environment variables; without them nothing here has any
/// effect.
public struct ServiceManager: Sendable {
    /// A state that this process reports to the manager.
    public enum News: Sendable {
        case ready
        /// The process is reloading its configuration; the next `ready` ends that.
        case reloading
        case stopping
        case alive
        /// A line of text for `systemctl status`.
        case status(String)
    }

    /// A listening socket that the manager passed to this program.
    public struct PassedSocket: Sendable, Equatable {
        public let descriptor: Int32
        /// The absolute path of the socket's file, which the manager made and removes.
        public let path: String
    }

    /// The names of all variables meant for this process alone, not for the programs that it
    /// starts.
    public static let names: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    ]
    private static let firstPassed: Int32 = 3

    private let socket: String?
    private let environment: [String: String]

    /// - Parameter environment: the environment of this process.
    public init(environment: [String: String]) {
        self.environment = environment.filter { Self.names.contains($0.key) }
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    }

    /// Whether a manager wants to be notified.
    public var isThere: Bool { socket != nil }

    /// Notifies the manager; if it can't take the message at once, the message is dropped.
    public func tell(_ news: News...) {
        guard let socket else { return }
        let text = news.map { news in
            switch news {
            case .ready: "READY=1"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Loop.nanoseconds / 1_000)"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let text): "STATUS=\(Printable.line(text))"
            }
        }
        _ = SocketAddress.send(datagram: Array(text.joined(separator: "\n").utf8), to: socket)
    }

    /// How often the manager wants to hear that the process is alive, in milliseconds; nil for
    /// never. It is half of the time after which the manager would kill the process.
    public var aliveInterval: UInt64? {
        guard isThere, let text = environment["WATCHDOG_USEC"], let microseconds = UInt64(text), microseconds > 0,
            isMeant("WATCHDOG_PID", whereMissing: true)
        else { return nil }
        return max(1, microseconds / 2_000)
    }

    /// The socket that the manager passed; nil if it passed none.
    /// - Throws: if it passed anything but one listening Unix stream socket with an absolute path.
    public func passedSocket() throws(PassedSocketError) -> PassedSocket? {
        guard let text = environment["LISTEN_FDS"], isMeant("LISTEN_PID", whereMissing: false) else { return nil }
        guard let count = Int32(text), count > 0 else { return nil }
        guard count == 1 else {
            throw PassedSocketError(
                description: "the service manager passed \(count) sockets (LISTEN_FDS), and a bus has one: "
                    + "give its unit one ListenStream=")
        }
        let descriptor = Self.firstPassed
        guard strata_listens(descriptor) == 1 else {
            throw PassedSocketError(
                description:
                    "descriptor \(descriptor), which the service manager passed, is not a listening Unix stream "
                    + "socket: give its unit ListenStream= with a path")
        }
        let path = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { room in
            strata_bound_path(descriptor, room.baseAddress, room.count)
            return String(cString: room.baseAddress!)  // because the capacity is over 0
        }
        guard path.hasPrefix("/") else {
            throw PassedSocketError(
                description: "the socket that the service manager passed has no absolute path in the file system: "
                    + "modules need its path, so give its unit ListenStream=/…")
        }
        try? Descriptors.hand(descriptor, on: false)
        return PassedSocket(descriptor: descriptor, path: path)
    }

    private func isMeant(_ name: String, whereMissing: Bool) -> Bool {
        guard let text = environment[name] else { return whereMissing }
        return Int32(text) == getpid()
    }
}

/// The error for a passed socket that can't be used; the message says what to do.
public struct PassedSocketError: Error, CustomStringConvertible {
    public let description: String
}
