import StrataCore

/// What modules here have retained, for other nodes whose observers have begun.
extension BusCore {
    /// Takes what a node asks for.
    func take(_ asks: [RetainedAsk], from node: NodeRecord) throws(BusError) {
        guard !asks.isEmpty, let connection = node.connection else { return }
        let latest = latestRank(on: node)
        for var ask in asks {
            ask.rank = min(ask.rank, latest)
            node.answers.add(ask, list(for: ask), before: retained.next)
        }
        try require(
            node.answers.count <= RetainedAsk.most, .overloaded,
            "\(node.name) asks for retained broadcasts \(node.answers.count) times at once, and may \(RetainedAsk.most) "
                + "times")
        work.add(retainedFor: connection)
    }

    /// Returns the notices among which those are that a node asks for.
    private func list(for ask: RetainedAsk) -> RetainedList? {
        guard ask.observed.count == 1 else { return retained.all.isEmpty ? nil : retained.all }
        return retained.list(for: Observation.Target(ask.observed[0], object: ask.object))
    }

    /// Answers the next asks of a node, as far as its queue has room. `hasRoom` and the idle work continue.
    func answerAsks(of node: NodeRecord, over connection: Peer) {
        var left = isShared ? FanOut.sharedBatch : FanOut.batch
        var answered: [UInt64] = []
        while let answer = node.answers.first, fitsHeld(HeaderWriter.overhead, connection, new: HeaderWriter.overhead) {
            guard left > 0 else {
                work.add(retainedFor: connection)
                break
            }
            left -= 1
            guard let next = answer.list?.first(from: answer.next), next.number < answer.before else {
                answered.append(answer.ask.number)
                node.answers.removeFirst()
                continue
            }
            guard let notice = next.notice, isFor(answer.ask, next, notice) else {
                node.answers.pass(next.number)
                continue
            }
            let isQueued = notice.withNotice(next.name) { send($0, notice.body, next.number, answer, over: connection) }
            guard isQueued else { break }
            node.answers.sent(next.number, notice.body.bytes.count)
        }
        if !answered.isEmpty { tell(node, NodeFrame.body(answered: answered)) }
    }

    /// Whether a node gets a retained notice. It knows rows alone, and gives the names of adapters itself.
    private func isFor(_ ask: RetainedAsk, _ retained: RetainedNotice, _ notice: KeptNotice) -> Bool {
        guard retained.earlierNames.isEmpty, LevelRule.broadcastReaches(from: retained.rank, to: ask.rank),
            ask.takes(retained.name, notice.object)
        else { return false }
        let sender = notice.from.withUnsafeBytes { modules.find($0) }
        return sender?.number == retained.module && sender?.row != nil
    }

    /// Queues a retained notice to a node.
    /// - Returns: false if the queue has no room for it now.
    private func send(
        _ notice: Notice, _ body: Payload, _ number: UInt64, _ answer: RetainedAnswers.Answer, over connection: Peer
    ) -> Bool {
        var notice = notice
        notice.from = ReplicaName.row(of: notice.from)
        let sharesBody = notice.body.count >= Outbox.largeBody
        guard fitsHeld(notice.cost, connection, new: sharesBody ? notice.cost - notice.body.count : notice.cost) else {
            return false
        }
        let write = { (writer: inout HeaderWriter) in
            writer.integer("id", answer.ask.number)
            notice.writeHead(to: &writer)
            writer.boolean("retained", true)
            writer.integer("number", number)
            writer.integer("before", answer.before)
            if answer.isLast(notice.body.count) { writer.boolean("more", true) }
            writer.passOn(notice.trace, notice.meta)
        }
        if sharesBody {
            queue(.notice, to: connection, room: notice.room, payload: body, isAnswer: false, write)
        } else {
            queue(.notice, to: connection, room: notice.room, body: notice.body, isAnswer: false, write)
        }
        return true
    }
}
