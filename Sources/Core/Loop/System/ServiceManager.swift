internal import StrataCore
internal import CUV
internal import Glibc

/// What a service manager such as systemd passes to a program that it starts, and
/// is told by it: sd_notify(3), sd_watchdog_enabled(3), sd_listen_fds(3). All of it
/// is in the environment; without it nothing here does anything.
public struct ServiceManager: Sendable {
    /// What the manager is told of.
    public enum News: Sendable {
        case ready
        /// What is read again takes effect at the next `ready`.
        case reloading
        case stopping
        case alive
        /// A line for `systemctl status`.
        case status(String)
    }

    /// A socket that the manager listens on, for this program to take over.
    public struct PassedSocket: Sendable, Equatable {
        public let descriptor: Int32
        /// Absolute; the manager made the file, and removes it.
        public let path: String
    }

    /// The names of all that is meant for this process, and for none that it starts.
    public static let names: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    ]
    private static let firstPassed: Int32 = 3

    private let socket: String?
    private let environment: [String: String]

    /// - Parameter environment: the process's.
    public init(environment: [String: String]) {
        self.environment = environment.filter { Self.names.contains($0.key) }
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    }

    /// Whether somebody wants to know.
    public var isThere: Bool { socket != nil }

    /// Tells the manager; one that can't take it at once isn't told.
    public func tell(_ news: News...) {
        guard let socket else { return }
        let text = news.map { news in
            switch news {
            case .ready: "READY=1"
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Loop.nanoseconds / 1_000)"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let text): "STATUS=\(text.split(separator: "\n").joined(separator: " "))"
            }
        }
        _ = SocketAddress.send(datagram: Array(text.joined(separator: "\n").utf8), to: socket)
    }

    /// How often the manager wants to hear that the process is alive, in milliseconds:
    /// half of the time after which it would end it. Nil: not at all.
    public var aliveInterval: UInt64? {
        guard isThere, let text = environment["WATCHDOG_USEC"], let microseconds = UInt64(text), microseconds > 0,
            isMeant("WATCHDOG_PID", whereMissing: true)
        else { return nil }
        return max(1, microseconds / 2_000)
    }

    /// The socket that the manager passed; nil where it passed none.
    /// - Throws: where it passed what can't be a bus's.
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
                    "descriptor \(descriptor), which the service manager passed, is no listening Unix stream socket: "
                    + "give its unit ListenStream= with a path")
        }
        let path = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { room in
            strata_bound_path(descriptor, room.baseAddress, room.count)
            return String(cString: room.baseAddress!)  // because 256 bytes were asked for
        }
        guard path.hasPrefix("/") else {
            throw PassedSocketError(
                description: "the socket that the service manager passed has no absolute path in the file system: "
                    + "modules are told its path, so give its unit ListenStream=/…")
        }
        try? Descriptors.hand(descriptor, on: false)
        return PassedSocket(descriptor: descriptor, path: path)
    }

    private func isMeant(_ name: String, whereMissing: Bool) -> Bool {
        guard let text = environment[name] else { return whereMissing }
        return Int32(text) == getpid()
    }
}

/// A socket that was passed and can't be used; the message says what to do.
public struct PassedSocketError: Error, CustomStringConvertible {
    public let description: String
}
