import StrataBus
import StrataCore

/// A machine of a simulation: its broker, its link's process and its peers.
final class JoinedNode {
    let index: Int
    let name: String
    let processes = MemoryProcesses()
    private(set) var broker: MemoryBroker
    /// How many brokers were started here before this one.
    private(set) var brokerLife = 0
    /// The peers whose connections to the broker are open, in the order in which they came.
    var peers: [JoinedPeer] = []
    var link: JoinedLink?
    /// When the link's next process starts; nil while there is one.
    var linkStartsAt: UInt64? = 0
    /// When its carrier is back; nil while it is there.
    var cutUntil: UInt64?
    private var lastPID: Int32 = 100

    init(_ index: Int, _ app: JoinedApp, at time: UInt64) {
        self.index = index
        name = app.nodes[index].name
        broker = MemoryBroker(app.table(of: index), processes, user: JoinedApp.user, at: time)
    }

    /// Starts a process.
    func newProcess() -> Int32 {
        lastPID += 1
        processes.start(lastPID)
        return lastPID
    }

    /// Kills the broker, and starts another one.
    func restartBroker(_ app: JoinedApp, at time: UInt64) {
        broker.crash()
        broker = MemoryBroker(app.table(of: index), processes, user: JoinedApp.user, at: time)
        brokerLife += 1
    }

    func connect(_ pid: Int32) -> MemoryConnection {
        broker.connect(PeerCredentials(pid: pid, uid: JoinedApp.user, gid: JoinedApp.user, seenAt: 0))
    }

    var launcher: JoinedPeer? { peers.last { $0.role == .launcher && $0.isUsable } }

    // MARK: Where the streams stand

    private func connection(to other: Int) -> (line: JoinedLine, session: UInt64, MemoryConnection)? {
        guard let (line, session) = link?.line(to: other),
            let connection = broker.connections.first(where: { $0.number == line.number })
        else { return nil }
        return (line, session, connection)
    }

    /// Returns how many bytes of the stream to another node the broker has written, and whether nothing
    /// else waits to be written; nil if there is no stream.
    func streamWritten(to other: Int) -> (position: Int, isWhole: Bool, session: UInt64)? {
        guard let (line, session, connection) = connection(to: other) else { return nil }
        // Nodes are told of changes in idle work.
        let isWhole = !connection.hasUnwritten && !broker.hasIdleWork
        return (line.pipe.written - line.answerLength, isWhole, session)
    }

    /// Returns how many bytes of the stream from another node the broker has handled.
    func streamHandled(from other: Int, in session: UInt64) -> Int? {
        guard let (line, current, connection) = connection(to: other), current == session, connection.isServed else {
            return nil
        }
        return Int(connection.bytesHandled) - line.helloLength
    }
}
