import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

@testable import StrataLink

/// The program `strata-link`.
@Suite(.timeLimit(.hang)) struct LinkProgramTests {
    @Test func aKilledLinkIsBackWithANewSession() throws {
        try TwoNodes.run { nodes in
            try nodes.start(0)
            var process = try nodes.startProcess(1)
            #expect(nodes.loop.run(until: { nodes.links[0]?.state(of: "tokyo") == "up" }))
            #expect(nodes.loop.run(until: { nodes.brokers[1].opened == 1 }))
            let stream = try nodes.stream(1)
            try nodes.stream(0).send([1, 2, 3, 4, 5])
            #expect(nodes.loop.run(until: { stream.received.count == 5 }))
            process.signal(SIGKILL)
            process.end()
            #expect(nodes.loop.run(until: { nodes.lines[0].last?.contains("stalled: no link listens") == true }))
            #expect(nodes.brokers[0].losses.isEmpty)
            process = try nodes.startProcess(1)
            #expect(nodes.loop.run(until: { nodes.brokers.allSatisfy { $0.opened == 2 } }))
            #expect(nodes.brokers[0].losses.map(\.sent) == [5])
            process.signal(SIGTERM)
            #expect(process.end() == .code(0))
        }
    }

    @Test func aLinkThatTheServerCutsOffLosesNothing() throws {
        let bytes = TwoNodes.bytes(16 << 20, seed: 6)
        try TwoNodes.run(settings: "write_deadline: \"1s\"\n") { nodes in
            try nodes.start(0)
            let process = try nodes.startProcess(1)
            let link = try #require(nodes.links[0])
            try #require(nodes.loop.run(until: { nodes.brokers.allSatisfy { $0.opened == 1 } }))
            try nodes.stream(0).send(bytes)
            // On a busy machine the session may stall before the server has enough to write. Then it is tried again.
            while !nodes.server.hasLogged("Slow Consumer") {
                try #require(nodes.loop.run(until: { link.state(of: "tokyo") == "up" }))
                process.signal(SIGSTOP)
                try #require(
                    nodes.loop.run(until: {
                        nodes.flood(link)
                        return nodes.server.hasLogged("Slow Consumer") || link.state(of: "tokyo") == "stalled"
                    }))
                process.signal(SIGCONT)
            }
            let stream = try nodes.stream(1)
            #expect(nodes.loop.run(until: { stream.received.count >= bytes.count }))
            #expect(stream.has(bytes))
            #expect(nodes.brokers.allSatisfy { $0.opened == 1 && $0.losses.isEmpty })
            process.letGo()
            process.end()
        }
    }

    @Test func itEndsWithItsLifeline() throws {
        try TwoNodes.run { nodes in
            try nodes.start(0)
            let process = try nodes.startProcess(1)
            #expect(nodes.loop.run(until: { nodes.links[0]?.state(of: "tokyo") == "up" }))
            process.letGo()
            #expect(process.end() == .code(0))
            #expect(nodes.loop.run(until: { nodes.brokers[0].losses.count == 1 }))
            #expect(nodes.brokers[0].losses[0].reason.contains("shutting-down"))
        }
    }

    @Test func itEndsWithItsBroker() throws {
        try TwoNodes.run { nodes in
            let process = try nodes.startProcess(1)
            #expect(nodes.loop.run(until: { process.errors.contains("NATS is connected") }))
            nodes.brokers[1].close()
            #expect(process.end() == .code(1))
            #expect(process.errors.contains("the broker is gone"))
        }
    }

    @Test func itsExitCodeSaysThatTheServerGuardsNothing() throws {
        try TwoNodes.run(.keysAlone) { nodes in
            let process = try nodes.startProcess(1)
            #expect(process.end() == .code(4))
            #expect(process.errors.hasPrefix("strata-link: unguarded: "))
        }
    }

    @Test func itsExitCodeSaysThatTheNameIsTaken() throws {
        try TwoNodes.run { nodes in
            try nodes.bringUp()
            let process = try nodes.startProcess(1)
            #expect(process.end() == .code(3))
            #expect(process.errors.hasPrefix("strata-link: name-taken: "))
        }
    }

    @Test func itMakesAKeyThatNobodyElseReads() throws {
        let loop = try Loop()
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/node.nk"
        let made = try LinkProcess(loop, ["key", path])
        #expect(made.end() == .code(0))
        #expect(made.output == "\(try KeyFile.read(path).publicKey)\n")
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let again = try LinkProcess(loop, ["key", path])
        #expect(again.end() == .code(2))
        #expect(again.errors.contains("exists"))
        #expect(made.output == "\(try KeyFile.read(path).publicKey)\n", "the key is still the first one")
    }

    @Test(
        arguments: [
            ([], nil, "usage: strata-link"), (["key"], nil, "usage: strata-link"),
            (["--configuration", "x"], nil, "usage: strata-link"),
            (["--configuration", "3"], "{", "the configuration can't be used"),
            (["--configuration", "3"], #"{"app":"moments"}"#, "\"node\" is missing"),
            (["--configuration", "99"], nil, "can't be read from descriptor 99"),
        ] as [([String], String?, String)])
    func badUsageIsExitCode2(arguments: [String], configuration: String?, error: String) throws {
        let process = try LinkProcess(
            try Loop(), arguments, configuration: configuration.map { Array($0.utf8) })
        #expect(process.end() == .code(2))
        #expect(process.errors.contains(error), "\(process.errors)")
    }
}
