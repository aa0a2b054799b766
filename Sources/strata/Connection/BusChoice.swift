import Glibc
import StrataCore
import StrataLoop
import StrataOperator

/// The choice of the bus that a command means.
enum BusChoice {
    /// Connects to the socket that `--socket` or `STRATA_SOCKET` names; nil if neither does.
    /// - Throws: `usage` for a path that no socket can have, `noBus` if nothing listens on it.
    private static func connectNamed(
        _ option: String?, patience: UInt64 = BusClient.patience
    ) throws(Failure) -> CommandClient? {
        guard let path = option ?? Environment["STRATA_SOCKET"] else { return nil }
        do throws(Failure) {
            do { try SocketPath.check(path) } catch { throw Failure(.usage, "\(error)") }
            return try CommandClient(path: path, patience: patience)
        } catch {
            var failure = error
            if option == nil { failure.message += "\nSTRATA_SOCKET names this path." }
            throw failure
        }
    }

    /// Connects to the named bus, or else to the only one there is.
    /// - Parameter patience: how long the bus may take to answer hello, in milliseconds.
    static func connect(
        _ option: String?, patience: UInt64 = BusClient.patience
    ) throws(Failure) -> CommandClient {
        if let connection = try connectNamed(option, patience: patience) { return connection }
        let live = try search()
        guard live.count == 1 else {
            throw Failure(
                .usage, "there are several buses; choose one with --socket:\n\(lines(live))")
        }
        return try CommandClient(path: live[0], patience: patience)
    }

    /// Returns the socket of the named bus, which need not run yet, or else of the only bus there
    /// is.
    static func path(_ option: String?) throws(Failure) -> String {
        guard let path = option ?? Environment["STRATA_SOCKET"] else { return try connect(nil).path }
        do { try SocketPath.check(path) } catch { throw Failure(.usage, "\(error)") }
        return path
    }

    /// Connects to the named bus, or else to the bus whose app has the URL's scheme. If there is
    /// only one bus, it is asked whatever its schemes are.
    static func connect(_ option: String?, opening url: String) throws(Failure) -> CommandClient {
        let scheme: String
        do { scheme = try BusURL(url).scheme } catch {
            throw Failure(.answer, "\(error)", code: .badURL)
        }
        if let connection = try connectNamed(option) { return connection }
        let live = try search()
        if live.count == 1 { return try CommandClient(path: live[0]) }
        // A bus that hangs or refuses this user is no reason not to ask the other ones.
        var connections: [CommandClient] = []
        for path in live {
            if let connection = try? CommandClient(path: path) { connections.append(connection) }
        }
        let fitting = connections.filter { $0.welcome.schemes.contains { $0.lowercased() == scheme } }
        if fitting.count == 1 { return fitting[0] }
        guard fitting.isEmpty else {
            throw Failure(
                .usage,
                "several buses open \(scheme):// URLs; choose one with --socket:\n\(lines(fitting.map(\.path)))")
        }
        let known = connections.map { "  \($0.path): \($0.welcome.schemes.joined(separator: ", "))" }
        throw Failure(
            .answer,
            "unknown-scheme: no bus opens \(scheme):// URLs; these are running, with their schemes:\n"
                + known.joined(separator: "\n"), code: .unknownScheme)
    }

    private static func search() throws(Failure) -> [String] {
        let search = SocketSearch(runtimeFolder: Environment["XDG_RUNTIME_DIR"])
        guard search.live.isEmpty else { return search.live }
        throw Failure(
            .noBus,
            "no bus found. These places were searched:\n\(search.summary)\n"
                + "Start one with `strata up`, or give its path with --socket or STRATA_SOCKET.")
    }

    private static func lines(_ paths: [String]) -> String {
        paths.map { "  \($0)" }.joined(separator: "\n")
    }
}
