import Glibc
import StrataCore
import StrataLoop

/// A nats-server for the nodes of one machine, on a port of 127.0.0.1 that the system chooses.
///
/// It restarts at the same port when it ends. Each node has a key, and the server keeps each from
/// speaking as another one.
final class LocalServer {
    /// Called with lines for people.
    var say: (String) -> Void = { _ in }
    /// Called when the server listens, the first time.
    var onReady: (_ url: String) -> Void = { _ in }
    /// Called when it can't be started.
    var onFailed: (LaunchError) -> Void = { _ in }

    private let loop: Loop
    private let program: String
    private let folder: LocalFolder
    private var child: ChildProcess?
    private var timer: LoopTimer?
    private var port: UInt16?
    private var onStopped: (() -> Void)?
    private var restarts = RestartPlan(BrokerKeeper.backoff)
    private var startedAt: UInt64 = 0

    /// The time between two looks for the server's port, in milliseconds.
    private static let pause: UInt64 = 20

    /// - Throws: a `LaunchError` if this machine has no nats-server.
    init(_ loop: Loop, _ folder: LocalFolder, path: String?) throws(LaunchError) {
        (self.loop, self.folder) = (loop, folder)
        // Debian installs it where only root's PATH leads.
        let folders = (path ?? "").split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
        let paths: [String] = folders.map { "\($0)/nats-server" }
        guard let found = paths.first(where: { access($0, X_OK) == 0 }) else {
            throw LaunchError(
                2,
                "the nodes of one machine need a nats-server, and none is in PATH or /usr/sbin: install it "
                    + "(apt-get install nats-server), or name servers in the manifest's federation")
        }
        program = found
        timer = LoopTimer(loop) { [unowned self] in self.timePassed() }
    }

    private static let configuration = "nats.conf"

    /// Makes a key for each node, and starts the server.
    /// - Parameter user: The user that links run as; nil for this process's.
    func start(app: String, nodes: [String], user: UInt32?) throws(LaunchError) {
        var keys: [(node: String, key: String)] = []
        for node in nodes {
            keys.append((node, try NodeKeys.make(key(of: node))))
            if let user, chown(key(of: node), user, gid_t.max) != 0 {
                throw LaunchError(
                    1, "\(key(of: node)) can't be given to user \(user): \(String(cString: strerror(errno)))")
            }
        }
        try folder.write(Self.configuration, ServerAccounts.text(app: app, keys: keys))
        try spawn()
    }

    /// Returns the path of a node's key.
    func key(of node: String) -> String { folder.file("\(node).nk") }

    /// Ends the server.
    /// - Parameter onStopped: Called when it has ended, perhaps at once.
    func stop(_ onStopped: @escaping () -> Void) {
        timer?.close()
        timer = nil
        guard let child else { return onStopped() }
        self.onStopped = onStopped
        child.kill(SIGKILL)
    }

    private func spawn() throws(LaunchError) {
        let words = [
            program, "--config", folder.file(Self.configuration), "--addr", "127.0.0.1", "--port",
            port.map { "\($0)" } ?? "-1", "--ports_file_dir", folder.path, "--log", folder.file("nats.log"),
        ]
        startedAt = loop.now
        do throws(SystemError) {
            child = try ChildProcess(loop, LocalProcess.command(words, environment: [])) { [unowned self] in
                self.ended($0)
            }
        } catch {
            throw LaunchError(1, "\(program) can't be started: \(error)")
        }
        if port == nil { timer?.start(after: Self.pause, every: Self.pause) }
    }

    /// Looks for the file in which the server says its port, or starts it again.
    private func timePassed() {
        if child == nil {
            timer?.stop()
            do throws(LaunchError) { try spawn() } catch { onFailed(error) }
            return
        }
        guard let pid = child?.pid, let url = url(from: folder.file("nats-server_\(pid).ports")),
            let number = url.split(separator: ":").last.flatMap({ UInt16($0) })
        else { return }
        timer?.stop()
        port = number
        onReady(url)
    }

    private func url(from path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(descriptor, &bytes, bytes.count)
        return (try? JSON(parsing: Array(bytes.prefix(max(0, count)))))?["nats"]?.array?.first?.string
    }

    private func ended(_ exit: ChildProcess.Exit) {
        child = nil
        if let onStopped { return onStopped() }
        guard port != nil else {
            return onFailed(
                LaunchError(
                    1, "nats-server ended with \(exit) before it listened; its log is \(folder.file("nats.log"))"))
        }
        loop.updateTime()
        switch restarts.died(at: loop.now, spawnedAt: startedAt, readyAt: startedAt) {
        case .giveUp: onFailed(LaunchError(1, "nats-server ended again and again, the last time with \(exit)"))
        case .start(let at):
            say("nats-server ended with \(exit); it is started again")
            timer?.start(after: at > loop.now ? at - loop.now : 0)
        }
    }
}
