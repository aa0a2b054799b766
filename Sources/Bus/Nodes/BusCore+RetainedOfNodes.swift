import StrataCore

/// What the modules of other nodes have retained: it is asked for when observations begin here, and delivered to them.
extension BusCore {
    /// Notes that an observation has begun here, which is to get what the other nodes' modules have retained.
    func asksNodes(for observation: Observation) {
        for node in nodes.nodes where node.mayBeAsked { node.asks.add(.init(observation)) }
    }

    /// Notes that a node is up, so that all observations begin for it.
    func asksForAll(_ node: NodeRecord) {
        guard node.mayBeAsked else { return }
        for peer in connections.inOrder {
            for observation in peer.observations.all where observation.place > 0 && !observation.isEnded {
                node.asks.add(.init(observation))
            }
        }
    }

    /// Sends the next asks. They follow what tells of the observations.
    func askNodes() {
        for node in nodes.nodes where node.asks.isDue {
            let asks = node.asks.takeDue().map { group in
                let target = group.observers[0].observation.terms.target
                var ask = RetainedAsk(number: group.number, observed: [target.observed], object: target.object)
                if adapters.hasNotices { ask.observed += adapters.originals(of: target.observed).sorted() }
                ask.observed = Array(ask.observed.prefix(RetainedAsk.mostNames))
                ask.rank = group.observers.lazy.map(\.observation.terms.rank).max() ?? 0
                (ask.from, ask.before) = (group.observers[0].from, group.observers[0].before)
                return ask
            }
            if !asks.isEmpty { for body in NodeFrame.bodies(asks: asks) { tell(node, body) } }
        }
    }

    /// Asks again for what a peer had no room for.
    func asksAgain(for peer: Peer) {
        // So much room is worth the way to the other node and back.
        guard peer.outbox.pending <= table.limits.queue / 4 else { return }
        for node in nodes.nodes { node.asks.hasRoom(peer.number) }
    }

    /// Delivers a notice that another node's module has retained to the observers that asked for it. The
    /// notice isn't kept here, because a newer one may come.
    func handleRetained(_ header: borrowing Header, _ frame: Frame, from sender: RemotePeer) {
        // No older broadcast of the node is still being delivered: its connection isn't read then.
        turn.interrupt()
        let node = sender.remoteNode
        guard let place = RetainedPlace(frame.header), let observers = node.asks[header.id] else {
            statistics.dropped += 1
            return
        }
        guard table.calls != .declared || broadcastRefusal(header.name, of: sender) == nil else {
            return node.asks.delivered(header.id, place, to: observers)
        }
        let names = [Array(header.name)] + aliases(header, from: sender)
        let payload = frame.body.count < Outbox.largeBody ? nil : Payload(copying: frame.body, reclaimer)
        var served: [RetainedAsks.Observer] = []
        for var observer in observers where observer.isLive {
            if deliver(header, frame.body, payload, names, to: observer.observation, from: sender) {
                served.append(observer)
            } else {
                (observer.from, observer.before) = (place.number, place.before)
                node.asks.isFull(observer)
            }
        }
        node.asks.delivered(header.id, place, to: served)
    }

    /// - Returns: false if the observation has no room for it now.
    private func deliver(
        _ header: borrowing Header, _ body: UnsafeRawBufferPointer, _ payload: Payload?, _ names: [[UInt8]],
        to observation: Observation, from sender: RemotePeer
    ) -> Bool {
        let (target, peer) = (observation.terms.target, observation.peer)
        let object = header.members.contains(.object) ? header.object : nil
        guard let name = names.first(where: { $0.withUnsafeBytes(target.isOf) }), target.matches(object), peer.isOpen,
            LevelRule.broadcastReaches(from: sender.rank, to: observation.terms.rank)
        else { return true }
        var left = 0
        guard nothingWaits(for: observation, of: peer, &left) else { return false }
        return name.withUnsafeBytes { name in
            levels.nameBytes[sender.rank].withUnsafeBytes { level in
                let notice = Notice(
                    name: name, object: object, from: sender.from, node: sender.node, level: level, via: "broadcast",
                    trace: header.trace, meta: header.meta, body: body)
                return deliverRetained(notice, payload, to: observation, of: peer)
            }
        }
    }
}
