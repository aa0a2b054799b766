import Glibc
import StrataCore
import StrataLoop
import TestSupport
import Testing

@testable import StrataLink

/// Two links over a real nats-server, with stand-ins for their brokers.
@Suite(.timeLimit(.hang)) struct NodeLinkTests {
    @Test func streamsReachTheOtherBroker() throws {
        try TwoNodes.run { nodes in
            let bytes = (0...1).map { TwoNodes.bytes(6 << 20, seed: $0) }
            try nodes.bringUp()
            for node in 0...1 { try nodes.stream(node).send(bytes[node]) }
            let streams = try (0...1).map { try nodes.stream($0) }
            #expect(nodes.loop.run(until: { (0...1).allSatisfy { streams[1 - $0].received.count >= bytes[$0].count } }))
            for node in 0...1 { #expect(streams[1 - node].has(bytes[node])) }
            #expect(nodes.brokers[0].hellos.map { $0["role"] } == ["link", "node"])
            #expect(nodes.brokers[0].hellos.last?["node"] == "tokyo")
            #expect(nodes.brokers[0].hellos.last?["token"] == "secret")
        }
    }

    @Test func smallMessagesOfTheServerAreEnough() throws {
        try TwoNodes.run(settings: "max_payload: 8KB\n") { nodes in
            try nodes.bringUp()
            let bytes = TwoNodes.bytes(300_000, seed: 1)
            try nodes.stream(0).send(bytes)
            let stream = try nodes.stream(1)
            #expect(nodes.loop.run(until: { stream.received.count >= bytes.count }))
            #expect(stream.has(bytes))
        }
    }

    @Test(arguments: [TwoNodes.Guard.keysAlone, .nothing])
    func aServerThatGuardsNoNamesIsRefused(kind: TwoNodes.Guard) throws {
        try TwoNodes.run(kind) { nodes in
            if kind == .nothing { nodes.change = { $0.key = nil } }
            try nodes.start(0)
            #expect(nodes.loop.run(until: { nodes.endings[0] != nil }))
            #expect(nodes.endings[0] == .unguarded)
            #expect(nodes.loop.run(until: { nodes.brokers[0].views.last?["refused"]?["state"] == "unguarded" }))
        }
    }

    @Test(.promise("N.18")) func theBrokerIsToldOfTheOtherNode() throws {
        try TwoNodes.run { nodes in
            try nodes.start(0)
            func last() -> JSON? { nodes.brokers[0].views.last?["nodes"]?.array?.last }
            #expect(nodes.loop.run(until: { last()?["state"] == "never" }))
            try nodes.start(1)
            try nodes.waitUntilUp()
            #expect(nodes.loop.run(until: { (last()?["rttMicroseconds"]?.integer ?? 0) > 0 }))
            #expect(last()?["state"] == "up" && last()?["sessions"] == 1 && last()?["why"] == "")
            nodes.links[1]?.shutDown()
            #expect(nodes.loop.run(until: { last()?["state"] == "lost" }))
            #expect(nodes.lines[0].last == "tokyo is lost: its link ended the session: shutting-down")
            // The next hello finds nobody, perhaps before the first of these views is due.
            #expect(nodes.loop.run(until: { last()?["why"]?.string?.contains("no link listens") == true }))
            #expect(last()?["unackedBytes"] == 0)
        }
    }

    @Test(.promise("N.18")) func aBrokerThatKnowsNoViewsIsToldOnce() throws {
        try TwoNodes.run { nodes in
            nodes.brokers[0].knowsViews = false
            try nodes.bringUp()
            #expect(nodes.loop.run(until: { nodes.brokers[1].views.count >= 2 }))
            #expect(nodes.brokers[0].views.count == 1)
        }
    }

    @Test func anUnguardedServerIsUsedWhereTheManifestSaysSo() throws {
        try TwoNodes.run(.nothing) { nodes in
            nodes.change = {
                $0.key = nil
                $0.isUnguarded = true
            }
            try nodes.bringUp()
        }
    }

    @Test func aKeyThatTheServerDoesNotKnowIsRefused() throws {
        try TwoNodes.run { nodes in
            let other = "\(nodes.folder.path)/other.nk"
            _ = try KeyFile.make(other)
            nodes.change = { $0.key = other }
            try nodes.start(0)
            #expect(nodes.loop.run(until: { nodes.endings[0] != nil }))
            guard case .refused = nodes.endings[0] else {
                Issue.record("it ended with \(String(describing: nodes.endings[0]))")
                return
            }
        }
    }

    /// libnats sends no signature where one begins with a zero byte, and the server refuses that connection.
    @Test func aKeyCountsAsRefusedAfterThreeConnections() throws {
        try TwoNodes.run { nodes in
            let refusing = try StandInServer(wantsTLS: false)
            let address = try ServerAddress("nats://127.0.0.1:\(refusing.port)")
            nodes.change = { $0.servers = [address] }
            try nodes.start(0)
            #expect(
                nodes.loop.run(until: {
                    refusing.serve()
                    return nodes.endings[0] != nil
                }))
            #expect(nodes.endings[0] == .refused("NATS refuses this node's key: add the key to the server's users"))
            #expect(refusing.greeted == 3)
        }
    }

    @Test func aSecondLinkWithANodesNameGivesWay() throws {
        try TwoNodes.run { nodes in
            try nodes.bringUp()
            let stream = try nodes.stream(0)
            let twin = try Link(nodes.loop, try nodes.configuration(0))
            var ending: Link.Ending?
            twin.onEnd = { ending = $0 }
            try twin.start()
            #expect(nodes.loop.run(until: { ending != nil }))
            #expect(ending == .nameTaken)
            let other = try nodes.stream(1)
            stream.send([1, 2, 3])
            #expect(nodes.loop.run(until: { other.received == [1, 2, 3] }))
            #expect(nodes.brokers.allSatisfy { $0.opened == 1 && $0.losses.isEmpty })
        }
    }

    @Test func aRestartOfTheServerLosesNothing() throws {
        try TwoNodes.run { nodes in
            try nodes.bringUp()
            let streams = try (0...1).map { try nodes.stream($0) }
            let bytes = (0...1).map { TwoNodes.bytes(12 << 20, seed: $0) }
            for node in 0...1 { streams[node].send(bytes[node]) }
            for share in [1, 2, 3] {
                try nodes.wait { streams[1].received.count > share << 21 }
                nodes.server.kill()
                try nodes.wait { nodes.links[0]?.state(of: "tokyo") == "stalled" }
                try nodes.server.start()
            }
            try nodes.wait { (0...1).allSatisfy { streams[1 - $0].received.count >= bytes[$0].count } }
            for node in 0...1 { #expect(streams[1 - node].has(bytes[node])) }
            #expect(nodes.brokers.allSatisfy { $0.opened == 1 && $0.losses.isEmpty })
        }
    }

    @Test func aServerThatHangsCostsTimeAlone() throws {
        try TwoNodes.run { nodes in
            try nodes.bringUp()
            let streams = try (0...1).map { try nodes.stream($0) }
            nodes.server.signal(SIGSTOP)
            let bytes = TwoNodes.bytes(2 << 20, seed: 3)
            streams[0].send(bytes)
            #expect(nodes.loop.run(until: { nodes.lines[0].contains("NATS is disconnected") }))
            nodes.server.signal(SIGCONT)
            #expect(nodes.loop.run(until: { streams[1].received.count >= bytes.count }))
            #expect(streams[1].has(bytes))
            #expect(nodes.brokers.allSatisfy { $0.opened == 1 && $0.losses.isEmpty })
        }
    }

    @Test func libnatsHoldsABoundedNumberOfBytes() throws {
        try TwoNodes.run { nodes in
            try nodes.bringUp()
            let link = try #require(nodes.links[0])
            nodes.server.signal(SIGSTOP)
            var most = 0
            #expect(
                nodes.loop.run(until: {
                    nodes.flood(link)
                    most = max(most, link.buffered)
                    return !link.carrierHasRoom
                }))
            #expect(most >= 1 << 20)
            #expect(most <= (1 << 20) + (65 << 10), "and one piece with its subjects")
            nodes.server.signal(SIGCONT)
        }
    }

    @Test func aServerWithoutTLSIsNotConnectedToWhereTLSIsWanted() throws {
        try TwoNodes.run { nodes in
            let address = try ServerAddress("tls://localhost:\(nodes.server.port)")
            nodes.change = { $0.servers = [address] }
            try nodes.start(0)
            #expect(nodes.loop.run(until: { nodes.lines[0].contains { $0.contains("NATS can't be reached") } }))
        }
    }

    @Test func aServerThatSaysNothingOfTLSIsLeft() throws {
        try TwoNodes.run { nodes in
            let silent = try StandInServer(wantsTLS: true)
            let address = try ServerAddress("tls://localhost:\(silent.port)")
            nodes.change = { $0.servers = [address] }
            try nodes.start(0)
            #expect(
                nodes.loop.run(until: {
                    silent.serve()
                    return nodes.lines[0].contains { $0.contains("an attempt doesn't end") }
                }))
        }
    }

    @Test func anOrderlyEndIsToldToBothBrokers() throws {
        try TwoNodes.run { nodes in
            try nodes.bringUp()
            try nodes.stream(1).send([1, 2, 3, 4])
            let stream = try nodes.stream(0)
            #expect(nodes.loop.run(until: { stream.received.count == 4 }))
            nodes.links[0]?.shutDown()
            #expect(nodes.loop.run(until: { nodes.endings[0] == .shutDown && !nodes.brokers[1].losses.isEmpty }))
            #expect(nodes.brokers[0].losses.map(\.sent) == [0])
            #expect(nodes.brokers[1].losses.map(\.sent) == [4])
            #expect(nodes.brokers[1].losses[0].reason.contains("shutting-down"))
            #expect(nodes.brokers[1].losses[0].reason.contains("NATS: nats://127.0.0.1"))
        }
    }

    @Test func aBrokerThatEndsANodeEndsItOnBothSides() throws {
        try TwoNodes.run { nodes in
            try nodes.bringUp()
            try nodes.stream(0).close()
            #expect(nodes.loop.run(until: { !nodes.brokers[1].losses.isEmpty }))
            #expect(nodes.brokers[1].losses[0].reason.contains("broker-closed"))
            #expect(nodes.brokers[0].losses.isEmpty, "it knows by itself")
            #expect(nodes.loop.run(until: { nodes.brokers.allSatisfy { $0.opened == 2 } }))
            try nodes.waitUntilUp()
        }
    }

    @Test func aBrokerThatDoesNotReadStopsTheOtherOne() throws {
        try TwoNodes.run { nodes in
            nodes.change = { $0.window = 256 << 10 }
            try nodes.bringUp()
            let streams = try (0...1).map { try nodes.stream($0) }
            streams[1].reads = false
            let bytes = TwoNodes.bytes(8 << 20, seed: 4)
            streams[0].send(bytes)
            let link = try #require(nodes.links[1])
            // The receiving side is full, and the next signs of life change nothing.
            #expect(nodes.loop.run(until: { (link.waiting(of: "berlin") ?? 0) == 256 << 10 }))
            let written = streams[0].written
            let resent = nodes.links[0]?.figures(of: "tokyo")?.resent
            let signs = try #require(link.figures(of: "berlin")?.received)
            #expect(nodes.loop.run(until: { (link.figures(of: "berlin")?.received ?? 0) >= signs + 6 }))
            #expect(streams[0].written <= written + (256 << 10))
            #expect(streams[0].written < bytes.count / 2)
            try nodes.wait { nodes.links[0]?.state(of: "tokyo") == "up" }
            #expect(nodes.links[0]?.figures(of: "tokyo")?.resent == resent)
            streams[1].reads = true
            #expect(nodes.loop.run(until: { streams[1].received.count >= bytes.count }))
            #expect(streams[1].has(bytes))
        }
    }

    @Test func streamsGoThroughTLS() throws {
        try TwoNodes.run(host: "localhost") { nodes in
            try nodes.bringUp()
            let bytes = TwoNodes.bytes(1 << 20, seed: 5)
            try nodes.stream(0).send(bytes)
            let stream = try nodes.stream(1)
            #expect(nodes.loop.run(until: { stream.received.count >= bytes.count }))
            #expect(stream.has(bytes))
        }
    }

    @Test func aServerWithAnotherNameIsNotConnectedTo() throws {
        try TwoNodes.run(host: "other.example") { nodes in
            try nodes.start(0)
            #expect(nodes.server.logs("TLS handshake error"))
            try nodes.wait { nodes.lines[0].contains { $0.contains("NATS can't be reached") } }
            #expect(nodes.links[0]?.state(of: "tokyo") == "never")
        }
    }

    @Test func garbageFromANodeIsCountedAndChangesNothing() throws {
        try TwoNodes.run { nodes in
            try nodes.bringUp()
            let hostile = HostileNode()
            let carrier = try NATSConnection(
                nodes.loop, try nodes.configuration(1), key: try KeyFile.read("\(nodes.folder.path)/tokyo.nk"),
                subjects: [], handler: hostile)
            defer { carrier.close() }
            try carrier.connect()
            #expect(nodes.loop.run(until: { hostile.isConnected }))
            for kind in [NATSSubject.Kind.pieces, .control] {
                let subject = NATSSubject(app: "moments", to: "berlin", from: "tokyo", kind)
                for length in 0..<100 {
                    TwoNodes.bytes(length, seed: length).withUnsafeBytes { carrier.publish(subject, reply: nil, $0) }
                }
            }
            carrier.flush()
            #expect(
                nodes.loop.run(until: {
                    let figures = nodes.links[0]?.figures(of: "tokyo")
                    return figures?.badPieces == 100 && figures?.badControls == 100
                }))
            let stream = try nodes.stream(0)
            try nodes.stream(1).send([1, 2, 3])
            #expect(nodes.loop.run(until: { stream.received == [1, 2, 3] }))
            #expect(nodes.brokers.allSatisfy { $0.opened == 1 && $0.losses.isEmpty })
        }
    }

    @Test func aNodeCantSpeakInAnothersName() throws {
        try TwoNodes.run { nodes in
            try nodes.bringUp()
            let hostile = HostileNode()
            let carrier = try NATSConnection(
                nodes.loop, try nodes.configuration(1), key: try KeyFile.read("\(nodes.folder.path)/tokyo.nk"),
                subjects: ["strata.moments.berlin.>", "strata.moments.tokyo.tokyo.>"], handler: hostile)
            defer { carrier.close() }
            try carrier.connect()
            #expect(nodes.loop.run(until: { hostile.isConnected }))
            for from in ["berlin", "tokyo"] {
                let subject = NATSSubject(app: "moments", to: "tokyo", from: from, .control)
                [0x7B].withUnsafeBytes { carrier.publish(subject, reply: nil, $0) }
            }
            carrier.flush()
            // What it says in its own name has come, so what it said before would have.
            #expect(nodes.loop.run(until: { hostile.heard.contains(1) }))
            #expect(nodes.links[1]?.figures(of: "berlin")?.badControls == 0)
            try nodes.stream(1).send([1])
            let stream = try nodes.stream(0)
            #expect(nodes.loop.run(until: { stream.received == [1] }))
            #expect(!hostile.heard.contains(0), "it hears nothing of what is sent to another node")
        }
    }

    @Test func aBrokerThatRefusesTheLinkEndsIt() throws {
        try TwoNodes.run { nodes in
            nodes.brokers[0].refusal = "forbidden"
            try nodes.start(0)
            #expect(nodes.loop.run(until: { nodes.endings[0] != nil }))
            #expect(nodes.endings[0] == .broker("forbidden: no"))
        }
    }
}
