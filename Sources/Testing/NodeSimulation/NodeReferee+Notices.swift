import StrataCore

/// Judges broadcasts: none comes twice, and none is missing in silence.
extension NodeReferee {
    /// Notes that a node's broker has handled a broadcast.
    func handled(_ number: Int, by node: JoinedNode) {
        let row = broadcasts[number].row
        broadcasts[number].handled = (sequences[node.index][row], node.brokerLife)
        sequences[node.index][row] += 1
    }

    /// Returns an observation that begins.
    func observation(_ number: Int, of row: Int, byPattern: Bool, by peer: JoinedPeer) -> JoinedObservation {
        var sources = Array(repeating: JoinedObservation.Source(), count: app.nodes.count)
        sources[peer.node].known = (sequences[peer.node][row], peer.brokerLife)
        return JoinedObservation(number: number, row: row, byPattern: byPattern, sources: sources)
    }

    /// Judges a broadcast that has come to a module.
    func notified(_ frame: SimulatedFrame, at peer: JoinedPeer) {
        let number = frame.number()
        guard broadcasts.indices.contains(number), let handled = broadcasts[number].handled else {
            return expect(false, .known, "\(peer.label) got the broadcast \(number), which nobody made")
        }
        let broadcast = broadcasts[number]
        let (row, sender) = (app.rows[broadcast.row], peers[broadcast.sender])
        let what = "broadcast \(number) of \(sender.label) on \(app.nodes[broadcast.node].name)"
        checkSender(frame, sender, at: peer, what)
        expect(
            LevelRule.broadcastReaches(from: row.rank, to: peer.rank), .levels,
            "\(what) came to \(peer.label), which is of no later level")
        let last = peer.last[sender.number] ?? (-1, -1)
        // A retained one may come long after it was made.
        expect(
            last.broadcast <= broadcast.sent && (frame.isRetained || last.request < broadcast.sent), .order,
            "\(what) came to \(peer.label) after what was sent later")
        expect(row.retains || !frame.isRetained, .retained, "\(what) came to \(peer.label) as retained, and was not")
        peer.last[sender.number] = (last.request, broadcast.sent)
        guard let place = peer.observations.firstIndex(where: { $0.number == frame.subscription }) else {
            return expect(
                false, .observed, "\(what) came to \(peer.label) for the observation \(frame.subscription)")
        }
        expect(
            peer.observations[place].row == broadcast.row && frame.name == row.broadcast, .observed,
            "\(what) came to \(peer.label) for an observation of another name")
        peer.observations[place].latest[sender.number] = number
        guard !frame.isRetained else {
            peer.observations[place].saidMissed += frame.missed
            peer.observations[place].saidByRetained += frame.missed
            return
        }
        count(handled, from: broadcast.node, frame.missed, &peer.observations[place], "\(what) at \(peer.label)")
    }

    /// Compares what an observation has missed with what it is told.
    private func count(
        _ handled: (sequence: Int, brokerLife: Int), from node: Int, _ missed: Int,
        _ observation: inout JoinedObservation, _ what: String
    ) {
        let source = observation.sources[node]
        observation.sources[node].last = handled
        var (fewest, most) = (0, Int.max)
        if let last = source.last {
            expect(
                last.sequence < handled.sequence, .onceNotified,
                "\(what) is number \(handled.sequence), and \(last.sequence) had come")
            let skipped = max(0, handled.sequence - last.sequence - 1)
            let lives = handled.brokerLife - last.brokerLife
            (fewest, most) = lives == 0 ? (skipped, skipped) : (min(skipped, 1), skipped + lives)
        } else if let known = source.known, known.brokerLife == handled.brokerLife {
            fewest = max(0, handled.sequence - known.sequence)
            if !source.isCounted { fewest = min(fewest, 1) }
        }
        observation.mustHaveMissed += fewest
        observation.saidMissed += missed
        let told = missed + observation.saidByRetained
        observation.saidByRetained = 0
        guard app.rows[observation.row].nodes.count == 1 else {
            return expect(
                observation.saidMissed >= observation.mustHaveMissed, .missed,
                "\(what) says \(missed) missed: \(observation.saidMissed) in all, of \(observation.mustHaveMissed)")
        }
        expect(
            (fewest...most).contains(told), .missed,
            "\(what) says \(told) missed, and \(fewest)\(most == fewest ? "" : " or more") were")
    }

    /// When all is well again, judges whether observers have the present state of the modules that retain all they
    /// broadcast. Under tight limits a broadcast may find no room, and is missed.
    func haveRetained(_ nodes: [JoinedNode]) {
        guard !app.isTight else { return }
        for sender in peers where sender.isUsable && sender.brokerLife == nodes[sender.node].brokerLife {
            guard let row = sender.row, app.rows[row].retains,
                let last = broadcasts.last(where: { $0.sender == sender.number && $0.handled != nil })
            else { continue }
            for peer in nodes.flatMap(\.peers)
            where peer.isUsable && LevelRule.broadcastReaches(from: sender.rank, to: peer.rank) {
                for observation in peer.observations where observation.row == row && !observation.isEnding {
                    let latest = observation.latest[sender.number]
                    expect(
                        latest == last.number, .retained,
                        "\(sender.label) on \(app.nodes[sender.node].name) has retained the broadcast \(last.number), and "
                            + "\(peer.label) on \(app.nodes[peer.node].name) has \(latest.map(String.init) ?? "none")")
                    retained += 1
                }
            }
        }
    }
}
