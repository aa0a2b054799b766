import StrataBus
import StrataCore
import StrataTesting
import Testing

/// Requests to a node keep their order, even if one of them names the node and the earlier ones have waited for it. The
/// broker is in memory, so the test decides when it sends the waiting requests.
struct NodeOrderTests {
    private let processes = MemoryProcesses()
    private let broker: MemoryBroker

    init() {
        let table = AppTable.twoNodes {
            $0.node = "berlin"
            $0.join = 600_000
        }
        broker = MemoryBroker(table, processes, user: 1_000)
    }

    private func send(_ connection: MemoryConnection, _ header: JSON, _ body: JSON) {
        connection.pipe.send(FrameBytes.frame(header, body: body))
        broker.takeTurn(connection)
    }

    private func connect(_ pid: Int32, _ hello: JSON) -> MemoryConnection {
        if processes.living(pid) == nil { processes.start(pid) }
        let connection = broker.connect(PeerCredentials(pid: pid, uid: 1_000, gid: 1_000, seenAt: 0))
        send(connection, ["kind": "call", "id": 1, "to": "bus/hello"], hello)
        return connection
    }

    private func received(by connection: MemoryConnection) throws -> [ReceivedFrame] {
        var (input, frames) = (FrameInput(), [ReceivedFrame]())
        broker.endRound()
        connection.pipe.take { input.append($0) }
        while let frame = try input.nextFrame() { frames.append(frame) }
        return frames
    }

    @Test(.promise("N.30", "N.35")) func aRequestThatNamesTheNodeOvertakesNone() throws {
        let tool = connect(10, ["protocol": 1, "role": "operator"])
        let launcher = connect(11, ["protocol": 1, "role": "launcher"])
        processes.start(12)
        send(
            launcher, ["kind": "call", "id": 2, "to": "bus/vouch"], ["link": true, "token": "t", "pid": 12])
        _ = connect(12, ["protocol": 1, "role": "link", "token": "t"])
        let line = connect(12, ["protocol": 1, "role": "node", "node": "tokyo", "token": "t"])
        send(tool, ["kind": "call", "id": 2, "to": "Index/find"], ["n": 1])
        // Tokyo says of itself what berlin does.
        let facts = try #require(try received(by: line).first { $0.kind == "node" })
        let members = facts.json.object ?? []
        send(line, ["kind": "node"], .object(members.map { $0.name == "node" ? .init("node", "tokyo") : $0 }))
        // The first one can go on now. This one comes before the broker sends it on.
        send(tool, ["kind": "call", "id": 3, "to": "Index@tokyo/find"], ["n": 2])
        while broker.advanceIdleWork() {}
        #expect(try received(by: line).filter { $0.kind == "call" }.map(\.json) == [["n": 1], ["n": 2]])
    }
}
