import Glibc
public import StrataCore
public import StrataLoop

/// The location of the socket of an app that is about to start.
public struct SocketChoice: Sendable, Equatable {
    /// The absolute path, so that it means the same in every module's folder.
    public let path: String
    /// Whether it is the path where clients look by default.
    public let isStandard: Bool
    /// The socket that a service manager listens on; nil if the broker makes its own.
    public let passed: Int32?

    /// Chooses the socket.
    /// - Parameters:
    ///   - table: The app's table.
    ///   - given: The value of `--socket`; nil if it is missing.
    ///   - manager: The service manager, whose socket is used if it passed one.
    public init(_ table: AppTable, given: String?, _ manager: ServiceManager? = nil) throws(LaunchError) {
        let socket: ServiceManager.PassedSocket?
        do throws(PassedSocketError) { socket = try manager?.passedSocket() } catch {
            throw LaunchError(2, error.description)
        }
        passed = socket?.descriptor
        if let socket {
            if let given, given != socket.path {
                throw LaunchError(
                    2,
                    "--socket says \(given), and the service manager passed a socket on \(socket.path): leave "
                        + "--socket out"
                )
            }
            path = socket.path
            isStandard = path == SocketPath.standard(app: table.socketName, hasGroup: table.group != nil)
        } else if let given {
            path = given.hasPrefix("/") ? given : Self.currentFolder + "/" + given
            isStandard = false
        } else {
            path = SocketPath.standard(app: table.socketName, hasGroup: table.group != nil)
            isStandard = true
        }
        do { try SocketPath.check(path) } catch { throw LaunchError(2, "\(error)") }
    }

    /// Creates the folder of a default path, and checks that nothing occupies the path.
    public func prepare(_ table: AppTable) throws(LaunchError) {
        guard passed == nil else { return }
        if isStandard {
            do {
                try SocketPath.prepareFolder(SocketPath.folder(of: path), group: table.group)
            } catch {
                throw LaunchError(2, "the socket's folder can't be used: \(error)")
            }
        }
        switch SocketAddress.occupant(path) {
        case .nothing, .dead: break
        case .live:
            throw LaunchError(
                3,
                "an app runs on \(path) already; end it with `strata down --socket \(path)`, or give another --socket")
        case .foreign:
            throw LaunchError(2, "\(path) exists and is not a socket; remove it, or give another --socket")
        case .unknown(let code):
            throw LaunchError(2, "\(path) can't be examined: \(String(cString: strerror(code)))")
        }
    }

    static var currentFolder: String {
        guard let folder = getcwd(nil, 0) else { return "" }
        defer { free(folder) }
        return String(cString: folder)
    }
}
