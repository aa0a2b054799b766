import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

@testable import StrataLink

/// Two links over several nats-servers, or over one that does more than serve.
@Suite(.timeLimit(.hang)) struct NodeServerTests {
    /// Sends bytes each way, and waits until all have come.
    private func exchange(_ nodes: TwoNodes, _ count: Int, seed: Int) throws {
        let streams = try (0...1).map { try nodes.stream($0) }
        let before = streams.map(\.received.count)
        let bytes = (0...1).map { TwoNodes.bytes(count, seed: seed + $0) }
        for node in 0...1 { streams[node].send(bytes[node]) }
        #expect(nodes.loop.run(until: { (0...1).allSatisfy { streams[$0].received.count >= before[$0] + count } }))
        for node in 0...1 { #expect(Array(streams[1 - node].received.suffix(count)) == bytes[node], "node \(node)") }
        #expect(nodes.brokers.allSatisfy { $0.opened == 1 && $0.losses.isEmpty })
    }

    private static let cluster = "cluster {name: moments, listen: \"127.0.0.1:-1\"}\n"

    /// Starts a second server with a route to the first.
    private func addSecond(_ nodes: TwoNodes, port: UInt16? = nil) throws -> NATSServer {
        let route = try #require(nodes.server.clusterPort)
        return try nodes.addServer(
            "second",
            settings: "cluster {name: moments, listen: \"127.0.0.1:-1\", "
                + "routes: [\"nats://127.0.0.1:\(route)\"]}\n", port: port)
    }

    @Test func aSessionGoesOverTheRouteOfTwoServers() throws {
        try TwoNodes.run(settings: Self.cluster) { nodes in
            let second = try addSecond(nodes)
            let addresses = [try nodes.server.address, try second.address]
            nodes.change = { $0.servers = [addresses[$0.node == "berlin" ? 0 : 1]] }
            try nodes.bringUp()
            try exchange(nodes, 2 << 20, seed: 1)
            second.kill()
            #expect(nodes.loop.run(until: { nodes.links[1]?.state(of: "berlin") == "stalled" }))
            try second.start()
            try exchange(nodes, 2 << 20, seed: 3)
        }
    }

    @Test func aServerThatSendsItsClientsAwayIsLeft() throws {
        let lameDuck = "lame_duck_duration: \"30s\"\nlame_duck_grace_period: \"1s\"\n"
        try TwoNodes.run(settings: Self.cluster + lameDuck) { nodes in
            // At first there is only one of the two servers.
            let (descriptor, port) = try LoopbackSocket.listen()
            close(descriptor)
            let addresses = [try nodes.server.address, try ServerAddress("nats://127.0.0.1:\(port)")]
            nodes.change = { $0.servers = addresses }
            try nodes.bringUp()
            _ = try addSecond(nodes, port: port)
            nodes.server.signal(SIGUSR2)
            #expect(
                nodes.loop.run(until: {
                    nodes.links.allSatisfy { $0?.carrier.server == "nats://127.0.0.1:\(port)" }
                }))
            try exchange(nodes, 1 << 20, seed: 5)
        }
    }

    @Test func aLeafServerCarriesItsMachinesNode() throws {
        let hub =
            """
            {user: leaf, password: secret, permissions: {publish: ["strata.moments.*.berlin.>"], \
            subscribe: ["strata.moments.berlin.>"]}}

            """
        try TwoNodes.run { nodes in
            // The first server is berlin's leaf.
            nodes.server.kill()
            let center = try nodes.addServer(
                "center", settings: "leafnodes {listen: \"127.0.0.1:-1\"}\n", more: hub)
            let leaf = try nodes.addServer(
                "leaf",
                settings: "leafnodes {remotes: [{url: \"nats://leaf:secret@127.0.0.1:\(try center.leafPort())\", "
                    + "account: moments}]}\n")
            let (near, far) = (try leaf.address, try center.address)
            nodes.change = { $0.servers = [$0.node == "berlin" ? near : far] }
            try nodes.bringUp()
            try exchange(nodes, 2 << 20, seed: 7)
            leaf.kill()
            #expect(nodes.loop.run(until: { nodes.links[0]?.state(of: "tokyo") == "stalled" }))
            try leaf.start()
            try exchange(nodes, 1 << 20, seed: 9)
        }
    }

    /// libnats waits for the rest of a record, and its thread that pings the server ends that.
    @Test func aRecordOfTLSThatIsCutCostsTimeAlone() throws {
        try TwoNodes.run(host: "localhost") { nodes in
            let relay = try CuttingRelay(to: UInt16(nodes.server.port))
            try nodes.start(0)
            let around = try ServerAddress("tls://localhost:\(relay.port)")
            nodes.change = { $0.servers = [around] }
            let process = try nodes.startProcess(1)
            func run(until condition: () -> Bool) throws {
                let came = nodes.loop.run(until: {
                    try? relay.serve()
                    return condition()
                })
                try #require(came, "\(process.errors); \(relay.count) clients; \(nodes.lines[0])")
            }
            try run { nodes.links[0]?.state(of: "tokyo") == "up" && nodes.brokers[1].opened == 1 }
            let bytes = TwoNodes.bytes(4 << 20, seed: 11)
            let stream = try nodes.stream(1)
            try nodes.stream(0).send(bytes)
            try run { stream.received.count > 1 << 20 }
            relay.cuts = true
            try run { relay.hasCut }
            try run { stream.received.count >= bytes.count }
            #expect(stream.has(bytes) && relay.count >= 2)
            #expect(nodes.brokers.allSatisfy { $0.opened == 1 && $0.losses.isEmpty })
            process.letGo()
            try run { process.exit != nil }
            process.end()
        }
    }

    /// With TLS, libnats waits until the server reads, on the loop's thread.
    @Test func aServerThatReadsNothingThroughTLSIsLeft() throws {
        try TwoNodes.run(host: "localhost") { nodes in
            try nodes.bringUp()
            let link = try #require(nodes.links[0])
            nodes.server.signal(SIGSTOP)
            #expect(
                nodes.loop.run(until: {
                    nodes.flood(link)
                    return nodes.lines[0].contains("NATS is disconnected")
                }))
            nodes.server.signal(SIGCONT)
            try nodes.waitUntilUp()
            try exchange(nodes, 1 << 20, seed: 13)
        }
    }

    @Test func aClientWithoutAKeyIsRefused() throws {
        try TwoNodes.run { nodes in
            let hostile = HostileNode()
            let carrier = try NATSConnection(
                nodes.loop, try nodes.configuration(1), key: nil, subjects: ["strata.moments.>"], handler: hostile)
            defer { carrier.close() }
            try carrier.connect()
            #expect(nodes.loop.run(until: { !hostile.failures.isEmpty }))
            #expect(!hostile.isConnected && hostile.heard.isEmpty)
        }
    }
}
