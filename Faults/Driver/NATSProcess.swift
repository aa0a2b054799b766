internal import FaultRecord
internal import FaultSystem
internal import Foundation

/// The nats-server of an app of several nodes. It knows the key of each node. Off loopback it has a
/// certificate of its own, because the link then demands TLS.
final class NATSProcess {
    private let places: Places
    private let networks: Networks?
    private let port: Int
    private let program: String
    /// Its process; 0 while there is none.
    private(set) var pid: Int32 = 0

    init(_ places: Places, _ networks: Networks?) throws {
        (self.places, self.networks) = (places, networks)
        program = try Tools.find("nats-server")
        port = networks == nil ? Int(fault_free_port()) : Networks.port
        guard port > 0 else { throw RunFailure("there is no free port: errno \(-port)") }
    }

    private var address: String { networks == nil ? "127.0.0.1" : Networks.address }

    /// The address in the manifest.
    var url: String { "\(networks == nil ? "nats" : "tls")://\(address):\(port)" }
    /// The certificate by which the links know the server; nil without TLS.
    var certificate: String? { networks == nil ? nil : places.file("server.pem") }
    private var certificateKey: String { places.file("server.key") }
    private var configuration: String { places.file("nats.conf") }
    private var log: String { places.file("nats.log") }

    /// Returns the path of a node's key.
    func key(of node: String) -> String { places.file("\(node).nk") }

    /// Makes the keys, the certificate and the configuration, and starts the server.
    /// - Parameter manifest: The app's manifest, as a file.
    func begin(_ tools: Tools, strata: String, manifest: String, _ placement: RolePlacement) throws {
        var words = [strata, "node", "config", manifest]
        for node in placement.nodes.compactMap({ placement.name(of: $0) }) {
            let key = try tools.run([strata, "node", "key", key(of: node)])
            words.append("\(node)=\(key.trimmingCharacters(in: .whitespacesAndNewlines))")
        }
        var text = try tools.run(words)
        if let certificate {
            _ = try tools.run([
                try Tools.find("openssl"), "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "1", "-subj",
                "/CN=\(address)", "-addext", "subjectAltName=IP:\(address)", "-keyout", certificateKey, "-out",
                certificate,
            ])
            text += "\ntls {cert_file: \"\(certificate)\", key_file: \"\(certificateKey)\"}\n"
        }
        try places.write(text, to: configuration)
        try start()
    }

    func start() throws {
        guard pid == 0 else { return }
        pid = try Tools.launch(
            [program, "--config", configuration, "--addr", address, "--port", "\(port)", "--log", log], [], output: log,
            network: networks?.hub ?? -1)
    }

    func kill() {
        guard pid > 0 else { return }
        Glibc.kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
        pid = 0
    }

    /// - Throws: a `RunFailure` if it has ended, though nobody killed it.
    func check() throws {
        guard pid > 0, waitpid(pid, nil, WNOHANG) == pid else { return }
        pid = 0
        let text = FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
        throw RunFailure("nats-server has ended:\n" + text.split(separator: "\n").suffix(10).joined(separator: "\n"))
    }
}
