import Glibc
import StrataCore
import StrataLoop
import StrataManifest
import StrataOperator

/// The choice of the bus that a command means.
struct BusChoice {
    /// The path that `--socket` gives.
    var socket: String?
    /// The app that `--app` gives.
    var app: String?

    /// The manifest that chooses one of several buses: the one that `strata up` runs here.
    private static let manifest = "strata.yaml"

    /// Connects to the named bus, or else to the only one there is. Of several, the manifest in
    /// this folder chooses.
    /// - Parameter patience: how long the bus may take to answer hello, in milliseconds.
    func connect(patience: UInt64 = BusClient.patience) throws(Failure) -> CommandClient {
        if let connection = try connectNamed(patience: patience) { return connection }
        let live = try Self.search().live
        return try CommandClient(
            path: try Self.only(of: live, "there are several buses"), patience: patience)
    }

    /// Returns the socket of the named bus, which need not run yet, or else of the bus that
    /// `connect` chooses.
    func path() throws(Failure) -> String {
        guard app == nil, let path = socket ?? Environment["STRATA_SOCKET"] else { return try connect().path }
        do { try SocketPath.check(path) } catch { throw Failure(.usage, "\(error)") }
        return path
    }

    /// Connects to the named bus, or else to the bus whose app has the URL's scheme. If there is
    /// only one bus, it is asked whatever its schemes are.
    func connect(opening url: String) throws(Failure) -> CommandClient {
        let scheme: String
        do { scheme = try BusURL(url).scheme } catch {
            throw Failure(.answer, "\(error)", code: .badURL)
        }
        if let connection = try connectNamed() { return connection }
        let live = try Self.search().live
        if live.count == 1 { return try CommandClient(path: live[0].path) }
        // A bus that hangs or refuses this user is no reason not to ask the other ones.
        var connections: [(bus: SocketSearch.Bus, client: CommandClient)] = []
        for bus in live {
            if let client = try? CommandClient(path: bus.path) { connections.append((bus, client)) }
        }
        let fitting = connections.filter { $0.client.welcome.schemes.contains { $0.lowercased() == scheme } }
        guard fitting.isEmpty else {
            let path = try Self.only(of: fitting.map(\.bus), "several buses open \(scheme):// URLs")
            return fitting.first { $0.bus.path == path }!.client  // because the path is one of theirs
        }
        let known = connections.map { "  \($0.client.path): \($0.client.welcome.schemes.joined(separator: ", "))" }
        throw Failure(
            .answer,
            "unknown-scheme: no bus opens \(scheme):// URLs; these are running, with their schemes:\n"
                + known.joined(separator: "\n"), code: .unknownScheme)
    }

    // MARK: by name

    /// Connects to the bus that `--app`, `--socket` or `STRATA_SOCKET` names; nil if none does.
    /// - Throws: `usage` for a path that no socket can have, `noBus` if nothing listens on it, or
    ///   if no bus of the app is found.
    private func connectNamed(patience: UInt64 = BusClient.patience) throws(Failure) -> CommandClient? {
        if let app { return try CommandClient(path: try Self.path(of: app), patience: patience) }
        guard let path = socket ?? Environment["STRATA_SOCKET"] else { return nil }
        do throws(Failure) {
            do { try SocketPath.check(path) } catch { throw Failure(.usage, "\(error)") }
            return try CommandClient(path: path, patience: patience)
        } catch {
            var failure = error
            if socket == nil { failure.message += "\nSTRATA_SOCKET names this path." }
            throw failure
        }
    }

    /// Returns the socket of an app's bus in the default folders.
    private static func path(of app: String) throws(Failure) -> String {
        let live = try search().live
        let found = buses(of: app, among: live)
        guard found.isEmpty else {
            guard found.count == 1 else {
                let areNodes = found[0].app != app
                throw unclear("there are several \(areNodes ? "nodes" : "buses") of \(app) here", found)
            }
            return found[0].path
        }
        let near = InterfaceActions.hint(nearestNames(to: app, in: live.map(\.app)))
        throw Failure(
            .noBus, "no bus of the app \(app) is in the default folders; these are running:\n\(lines(live))\(near)")
    }

    // MARK: one of several

    /// Returns the only one, or the one of the manifest's app.
    /// - Parameter what: the words for more than one, in an error.
    private static func only(of buses: [SocketSearch.Bus], _ what: String) throws(Failure) -> String {
        if buses.count == 1 { return buses[0].path }
        let found = Manifest.app(path: manifest).map { Self.buses(of: $0, among: buses) } ?? []
        guard found.count == 1 else { throw unclear(what, buses) }
        return found[0].path
    }

    /// Returns the buses of this name, or else those of the app's nodes.
    private static func buses(of app: String, among live: [SocketSearch.Bus]) -> [SocketSearch.Bus] {
        let found = live.filter { $0.app == app }
        return found.isEmpty ? live.filter { $0.app.hasPrefix("\(app)@") } : found
    }

    private static func unclear(_ what: String, _ buses: [SocketSearch.Bus]) -> Failure {
        Failure(
            .usage,
            "\(what); choose one with --app or --socket, or run the command beside the app's \(manifest):\n"
                + lines(buses))
    }

    private static func search() throws(Failure) -> SocketSearch {
        let search = SocketSearch(runtimeFolder: Environment["XDG_RUNTIME_DIR"])
        guard search.live.isEmpty else { return search }
        throw Failure(
            .noBus,
            "no bus found. These places were searched:\n\(search.summary)\n"
                + "Start one with `strata up`, or give its path with --socket or STRATA_SOCKET.")
    }

    private static func lines(_ buses: [SocketSearch.Bus]) -> String {
        buses.map { "  \($0.app): \($0.path)" }.joined(separator: "\n")
    }
}
