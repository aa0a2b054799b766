internal import FaultSystem
internal import Glibc

/// A network namespace for each node, each joined by a pair of interfaces to the one of the NATS
/// server. The namespaces have no names: the kernel removes them when this process and those that it
/// started have ended, however they end.
final class Networks {
    /// The NATS server's address, and its port.
    static let (address, port) = ("10.77.0.1", 4_222)

    let hub: Int32
    let nodes: [Int32]
    private let tools: Tools

    /// - Throws: a `RunFailure` if the system refuses.
    init(_ count: Int, _ tools: Tools) throws {
        self.tools = tools
        guard geteuid() == 0 else { throw RunFailure("networks take root") }
        hub = try Self.make()
        nodes = try (0..<count).map { _ in try Self.make() }
        try ip(hub, "link set lo up", "address add \(Self.address)/32 dev lo")
        for (index, node) in nodes.enumerated() {
            let net = "10.77.\(index + 1)"
            try ip(
                hub, "link add \(Self.cable(index)) type veth peer name cable netns /proc/\(getpid())/fd/\(node)",
                "address add \(net).1/24 dev \(Self.cable(index))", "link set \(Self.cable(index)) up")
            try ip(
                node, "link set lo up", "address add \(net).2/24 dev cable", "link set cable up",
                "route add default via \(net).1")
        }
    }

    deinit { for descriptor in nodes + [hub] { close(descriptor) } }

    private static func make() throws -> Int32 {
        let descriptor = fault_network()
        guard descriptor >= 0 else { throw RunFailure("a network can't be made: errno \(-descriptor)") }
        return descriptor
    }

    private static func cable(_ node: Int) -> String { "node\(node)" }

    /// Cuts a node's cable at the server's end, or mends it.
    func setCable(of node: Int, isUp: Bool) throws {
        try ip(hub, "link set \(Self.cable(node)) \(isUp ? "up" : "down")")
    }

    private func ip(_ network: Int32, _ commands: String...) throws {
        let program = try Tools.find("ip")
        for command in commands {
            _ = try tools.run([program] + command.split(separator: " ").map(String.init), network: network)
        }
    }
}
