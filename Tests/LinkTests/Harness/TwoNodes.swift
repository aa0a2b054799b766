import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

@testable import StrataLink

/// Two nodes of an app on one loop: a nats-server, and a link and a stand-in for the broker for each.
final class TwoNodes {
    /// How the server treats the nodes.
    enum Guard {
        /// A user for each node, with permissions for its name.
        case permissions
        /// A user for each node, without permissions.
        case keysAlone
        case nothing
    }

    let loop: Loop
    let folder: TemporaryFolder
    let server: NATSServer
    let names = ["berlin", "tokyo"]
    private(set) var brokers: [StandInBroker] = []
    private(set) var links: [Link?] = [nil, nil]
    private(set) var endings: [Link.Ending?] = [nil, nil]
    /// The lines that each link has said.
    private(set) var lines: [[String]] = [[], []]
    /// Changes a configuration before its link is made.
    var change: (inout LinkConfiguration) -> Void = { _ in }

    /// - Parameters:
    ///   - settings: further settings of the server.
    ///   - host: the name in the server's certificate; nil for a server without TLS.
    init(_ kind: Guard = .permissions, settings: String = "", host: String? = nil) throws {
        loop = try Loop()
        folder = try TemporaryFolder()
        var users = ""
        for name in names {
            let key = try KeyFile.make("\(folder.path)/\(name).nk")
            let permissions =
                """
                , permissions: {publish: ["strata.moments.*.\(name).>"], subscribe: ["strata.moments.\(name).>"]}
                """
            users += "{nkey: \(key.publicKey)\(kind == .permissions ? permissions : "")}\n"
        }
        accounts = kind == .nothing ? "" : "accounts { moments { users: [\n\(users)] } }\n"
        var tls = ""
        if let host {
            try Self.makeCertificate(for: host, in: folder.path, loop)
            tls = "tls {cert_file: \"\(folder.path)/cert.pem\", key_file: \"\(folder.path)/key.pem\"}\n"
        }
        usesTLS = host != nil
        server = try NATSServer(loop, in: folder.path, configuration: accounts + settings + tls)
        for name in names { brokers.append(try StandInBroker(loop, path: "\(folder.path)/\(name).sock")) }
    }

    private let usesTLS: Bool
    /// The accounts in the server's configuration.
    private let accounts: String
    private var others: [NATSServer] = []

    /// Starts one more server, which knows the same nodes, and which `close` ends.
    /// - Parameters:
    ///   - users: further users of the app's account.
    ///   - port: its port; nil for any.
    func addServer(
        _ name: String, settings: String, more users: String = "", port: UInt16? = nil
    ) throws -> NATSServer {
        let path = "\(folder.path)/\(name)"
        try #require(mkdir(path, 0o700) == 0)
        let text = accounts.replacing("users: [", with: "users: [\n\(users)") + settings
        let server = try NATSServer(loop, in: path, configuration: text, port: port)
        others.append(server)
        return server
    }

    /// Makes a certificate that vouches for itself.
    private static func makeCertificate(for host: String, in folder: String, _ loop: Loop) throws {
        let command = ChildProcess.Command(
            arguments: [
                "/usr/bin/openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "1", "-subj",
                "/CN=\(host)",
                "-addext", "subjectAltName=DNS:\(host)", "-keyout", "key.pem", "-out", "cert.pem",
            ], environment: [], folder: folder)
        var exit: ChildProcess.Exit?
        let child = try ChildProcess(loop, command) { exit = $0 }
        defer { withExtendedLifetime(child) {} }
        try #require(loop.run(until: { exit != nil }))
        try #require(exit == .code(0))
    }

    func configuration(_ node: Int) throws -> LinkConfiguration {
        var configuration = try LinkConfiguration(
            json: [
                "app": "moments", "node": .string(names[node]), "nodes": [.string(names[1 - node])],
                "servers": [.string(usesTLS ? "tls://localhost:\(server.port)" : "nats://127.0.0.1:\(server.port)")],
                "ca": usesTLS ? .string("\(folder.path)/cert.pem") : nil,
                "key": .string("\(folder.path)/\(names[node]).nk"), "lost": 60_000,
                "socket": .string(brokers[node].path), "token": "secret",
            ])
        change(&configuration)
        return configuration
    }

    func start(_ node: Int) throws {
        let link = try Link(loop, try configuration(node))
        links[node] = link
        endings[node] = nil
        link.say = { [unowned self] in self.lines[node].append($0) }
        link.onEnd = { [unowned self] in self.endings[node] = $0 }
        try link.start()
    }

    /// Starts a link as a process.
    func startProcess(_ node: Int) throws -> LinkProcess {
        let configuration = try configuration(node)
        let json: JSON = [
            "app": .string(configuration.app), "node": .string(configuration.node),
            "nodes": .array(configuration.others.map { .string($0) }),
            "servers": .array(configuration.servers.map { .string($0.url) }),
            "ca": configuration.ca.map { .string($0) } ?? nil,
            "key": configuration.key.map { .string($0) } ?? nil, "lost": .integer(Int64(configuration.lost)),
            "window": .integer(Int64(configuration.window)), "socket": .string(configuration.socket),
            "token": .string(configuration.token),
        ]
        return try LinkProcess(loop, ["--configuration", "3"], configuration: json.encoded())
    }

    /// Makes berlin's link publish 1 MiB to tokyo that belongs to no session, as far as libnats has room. A session has
    /// less under way than the sockets take.
    func flood(_ link: Link) {
        let (pieces, noResponders) = (
            NATSSubject(app: "moments", to: "tokyo", from: "berlin", .pieces),
            NATSSubject(app: "moments", to: "tokyo", from: "berlin", .noResponders)
        )
        let piece = [UInt8](repeating: 7, count: 64 << 10)
        for _ in 0..<16 where link.carrierHasRoom {
            piece.withUnsafeBytes { link.publish(pieces, reply: noResponders, $0) }
        }
    }

    /// Starts both links, and waits until both brokers have the other node's stream.
    func bringUp() throws {
        for node in 0...1 { try start(node) }
        try waitUntilUp()
    }

    /// Waits for a condition. If it doesn't come about, the failure shows what the links have said and counted.
    func wait(_ location: SourceLocation = #_sourceLocation, until condition: () -> Bool) throws {
        let hasCome = loop.run(until: condition)
        let figures = (0...1).map { "\(String(describing: links[$0]?.figures(of: names[1 - $0])))" }
        let states = (0...1).map { links[$0]?.state(of: names[1 - $0]) ?? "none" }
        try #require(hasCome, "\(states) \(lines) \(figures)", sourceLocation: location)
    }

    func waitUntilUp() throws {
        try #require(loop.run(until: { (0...1).allSatisfy { self.links[$0]?.state(of: self.names[1 - $0]) == "up" } }))
    }

    /// The stream at a node's broker.
    func stream(_ node: Int) throws -> StandInBroker.Stream { try #require(brokers[node].streams[names[1 - node]]) }

    /// Ends everything.
    func close() {
        for node in 0...1 where links[node] != nil && endings[node] == nil { links[node]?.shutDown() }
        #expect(loop.run(until: { (0...1).allSatisfy { self.links[$0] == nil || self.endings[$0] != nil } }))
        for broker in brokers { broker.close() }
        for server in [server] + others where server.isRunning { server.kill() }
        loop.runOnce()
        folder.remove()
    }

    static func run(
        _ kind: Guard = .permissions, settings: String = "", host: String? = nil, _ test: (TwoNodes) throws -> Void
    ) throws {
        let nodes = try TwoNodes(kind, settings: settings, host: host)
        defer { nodes.close() }
        try test(nodes)
    }

    /// Bytes that a seed gives.
    static func bytes(_ count: Int, seed: Int) -> [UInt8] {
        var generator = SeededGenerator(seed)
        return (0..<count / 8 + 1).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }.dropLast(
            8 - count % 8)
    }
}
