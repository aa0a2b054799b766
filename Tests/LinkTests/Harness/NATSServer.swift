import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

@testable import StrataLink

/// A nats-server of a test, on a port of its own.
final class NATSServer {
    let folder: String
    private(set) var port: Int64 = -1
    /// The port for routes to other servers; nil if it has none.
    private(set) var clusterPort: Int64?
    private let loop: Loop
    private var child: ChildProcess?
    private(set) var isRunning = false

    /// Writes the configuration, and starts the server.
    /// - Parameter port: its port; nil for any.
    init(_ loop: Loop, in folder: String, configuration: String, port: UInt16? = nil) throws {
        if let port { self.port = Int64(port) }
        self.loop = loop
        self.folder = folder
        try WrittenProgram.write(configuration, to: "\(folder)/nats.conf", mode: 0o600)
        try start()
    }

    /// Starts the server, again on the same port.
    func start() throws {
        let folders = getenv("PATH").map { String(cString: $0) } ?? ""
        let paths: [String] = "\(folders):/usr/sbin".split(separator: ":").map { "\($0)/nats-server" }
        let path = try #require(paths.first { access($0, X_OK) == 0 }, "there is no nats-server: install it")
        let command = ChildProcess.Command(
            arguments: [
                path, "-c", "\(folder)/nats.conf", "-a", "127.0.0.1", "-p", "\(port)", "--ports_file_dir", folder, "-l",
                log,
            ], environment: [], folder: folder)
        isRunning = true
        let child = try ChildProcess(loop, command) { [unowned self] _ in self.isRunning = false }
        self.child = child
        let ports = "\(folder)/nats-server_\(child.pid).ports"
        var json: JSON?
        #expect(
            loop.run(until: {
                json = try? JSON(parsing: Self.text(ports))
                return json != nil || !self.isRunning
            }))
        func chosenPort(_ kind: String) -> Int64? {
            json?[kind]?.array?.first?.string?.split(separator: ":").last.flatMap { Int64($0) }
        }
        port = try #require(chosenPort("nats"), "nats-server didn't start")
        clusterPort = chosenPort("cluster")
    }

    /// Where it listens.
    var address: ServerAddress {
        get throws { try ServerAddress("nats://127.0.0.1:\(port)") }
    }

    /// The port of leaf servers, which it chose.
    func leafPort() throws -> Int64 {
        let text = "Listening for leafnode connections on 127.0.0.1:"
        #expect(logs(text))
        let line = Self.text(log).split(separator: "\n").first { $0.contains(text) }
        return try #require(line?.split(separator: ":").last.flatMap { Int64($0) })
    }

    private var log: String { "\(folder)/nats.log" }

    /// Whether the server has written a text to its log.
    func hasLogged(_ text: String) -> Bool { Self.text(log).contains(text) }

    /// Waits until it has.
    func logs(_ text: String) -> Bool { loop.run(until: { self.hasLogged(text) }) }

    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    func signal(_ signal: Int32) { child?.kill(signal) }

    /// Kills the server, and waits for its end.
    func kill() {
        child?.kill(SIGKILL)
        #expect(loop.run(until: { !self.isRunning }))
    }
}
