import StrataBus
import StrataCore

/// What happens to links, carrier and brokers.
extension NodeSimulation {
    // MARK: Links

    func startLink(_ node: JoinedNode) {
        guard let launcher = node.launcher, launcher.isWelcome else { return }
        node.linkStartsAt = nil
        let index = node.index
        let link = JoinedLink(
            node, app, &numbers, at: now,
            .init(
                publish: { [unowned self] in publish($0, from: index, to: $1) },
                tell: { [unowned self] line in tell(line) },
                problem: { [unowned self] what in referee.expect(false, .connected, what) }))
        node.link = link
        tell("# \(node.name)'s link starts as process \(link.pid)")
        ask(launcher, .vouch(link.number), "vouch", #"{"link":true,"token":"\#(link.token)","pid":\#(link.pid)}"#)
    }

    /// Kills a link's process.
    func endLink(_ node: JoinedNode, startsIn delay: UInt64) {
        guard let link = node.link else { return }
        tell("# \(node.name)'s link is killed")
        link.die()
        noteEnd(node, startsIn: delay)
    }

    /// Notes whether a link's process has ended, which starts again.
    func noteEnd(_ node: JoinedNode, startsIn delay: UInt64 = 10_000_000) {
        guard node.link?.isOver == true else { return }
        tell("# \(node.name)'s link has ended")
        node.link = nil
        node.linkStartsAt = now + delay
        carrier.end(node.index)
    }

    private func publish(_ message: LossyCarrier.Message, from: Int, to: Int) {
        if nodes[to].link?.carrierIsUp == true {
            carrier.publish(message, from: from, to: to)
        } else if numbers.chance(1, in: 2) {
            nodes[from].link?.noResponders(from: to, at: now)
        }
    }

    func carry(_ from: Int, _ to: Int) {
        guard from != to, let message = carrier.take(from: from, to: to) else { return }
        nodes[to].link?.received(message, from: from, at: now)
    }

    func cut(_ node: JoinedNode, for time: UInt64) {
        guard node.cutUntil == nil, node.link?.carrierIsUp == true else { return }
        tell("# \(node.name) is cut off for \(time / 1_000_000) ms")
        node.cutUntil = now + time
        node.link?.carrierDisconnected(at: now)
        carrier.cut(node.index)
    }

    // MARK: Brokers

    /// Makes a new broker's launcher and operator connect.
    func begin(_ node: JoinedNode) {
        node.broker.onHandled = { [unowned self, unowned node] connection, _ in noteHandled(connection, of: node) }
        connect(.launcher, "launcher", to: node, observing: [])
        connect(.operator, "operator", to: node, observing: [])
    }

    func killBroker(_ node: JoinedNode) {
        tell("# \(node.name)'s broker is killed, and starts anew")
        formerEvents += node.broker.events
        pass(to: now)
        node.restartBroker(app, at: now)
        for peer in node.peers { end(peer) }
        node.peers = []
        if node.link?.isConnected == false { endLink(node, startsIn: 10_000_000) }
        begin(node)
    }

    func replaceBroker(_ node: JoinedNode) {
        tell("# \(node.name)'s broker is replaced")
        do { try node.broker.replace() } catch {
            referee.expect(false, .replacement, "\(node.name)'s broker can't continue: \(error)")
        }
    }

    private func noteHandled(_ connection: MemoryConnection, of node: JoinedNode) {
        // A process that has ended may have sent something.
        let peer = referee.peers.last {
            $0.connection == connection.number && $0.node == node.index && $0.brokerLife == node.brokerLife
        }
        guard connection.isServed, let peer else { return }
        while let (end, number) = peer.broadcasts.first, end <= connection.bytesHandled {
            peer.broadcasts.removeFirst()
            referee.handled(number, by: node)
        }
    }
}
