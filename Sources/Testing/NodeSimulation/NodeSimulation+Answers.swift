import StrataBus
import StrataCore

/// What peers read and answer.
extension NodeSimulation {
    /// Reads what has arrived at a peer, and answers some of it at once.
    func read(_ peer: JoinedPeer) {
        for frame in frames(of: peer) {
            tell(
                "\(peer.label) < \(String(decoding: frame.header, as: UTF8.self))"
                    + String(decoding: frame.body.prefix(160), as: UTF8.self))
            switch frame.kind {
            case .reply, .error: answered(frame, peer)
            case .notice where frame.id == 0: referee.notified(frame, at: peer)
            case .call, .open, .notice: serve(frame, peer)
            case .cancel: cancelled(frame, peer)
            case .credit:
                guard let place = peer.pending.firstIndex(where: { $0.id == frame.id }) else { continue }
                peer.pending[place].credit += frame.credit
            case .broadcast, .report, .unknown:
                referee.expect(false, .form, "\(peer.label) got a \(frame.kind.name)")
            }
        }
        guard peer.pipe.isClosedByBroker else { return }
        // A slow consumer's connection ends, and a small pipe may not take the reason.
        let isSlow = app.isTight && ["", "slow-consumer"].contains(peer.farewell)
        referee.expect(
            nodes[peer.node].brokerLife != peer.brokerLife || !peer.isWelcome || isSlow, .alive,
            "\(nodes[peer.node].name)'s broker has closed \(peer.label)'s connection: \(peer.farewell)")
        end(peer)
        nodes[peer.node].peers.removeAll { $0 === peer }
    }

    /// Takes the frames that have arrived at a peer.
    private func frames(of peer: JoinedPeer) -> [SimulatedFrame] {
        var bytes: [UInt8] = []
        peer.pipe.take { bytes = Array($0) }
        do { return try peer.input.append(bytes[...], scanner) } catch {
            referee.expect(false, .form, "\(peer.label) received something that can't be read: \(error)")
            return []
        }
    }

    private func answered(_ frame: SimulatedFrame, _ peer: JoinedPeer) {
        if let number = peer.open[frame.id] { return referee.answered(frame, number, at: peer) }
        guard let asked = peer.asked.removeValue(forKey: frame.id) else {
            // An error without an id is a broker's last word.
            if frame.id == 0, frame.kind == .error { peer.farewell = frame.code }
            return referee.expect(
                frame.id == 0 && frame.kind == .error, .onceAnswered,
                "\(peer.label) got a \(frame.kind.name) to \(frame.id), which isn't open: \(frame.code)")
        }
        guard frame.kind == .reply else {
            if case .hello = asked { return }
            return referee.expect(
                false, .alive, "\(peer.label)'s request to the bus ended as \(frame.code): \(frame.text)")
        }
        let body = try? JSON(parsing: frame.body)
        switch asked {
        case .hello:
            peer.isWelcome = true
            // The first is for reports.
            let numbers = body?["subscriptions"]?.array?.compactMap { $0.integer.map(Int.init) } ?? []
            for (observed, number) in zip(peer.observed, numbers.dropFirst()) {
                peer.observations.append(
                    referee.observation(number, of: observed.row, byPattern: observed.byPattern, by: peer))
            }
        case .observe(let row, let byPattern):
            let number = Int(body?["subscription"]?.integer ?? 0)
            peer.observations.append(referee.observation(number, of: row, byPattern: byPattern, by: peer))
        case .unobserve(let number): peer.observations.removeAll { $0.number == number }
        case .vouch(let number):
            let node = nodes[peer.node]
            if let link = node.link, link.number == number, !link.isOver { link.connect() }
        case .other: break
        }
    }

    // MARK: Serving

    private func serve(_ frame: SimulatedFrame, _ peer: JoinedPeer) {
        guard frame.from != "bus", !frame.to.hasPrefix("module/") else {
            return send(peer, #"{"kind":"reply","id":\#(frame.id)}"#, "{}")
        }
        let number = frame.number()
        referee.begins(number, frame, at: peer)
        guard referee.finding == nil else { return }
        let served = JoinedPeer.Served(id: frame.id, request: number, credit: frame.credit)
        switch numbers.below(4) {
        case 0: reply(served, peer)
        default: peer.pending.append(served)
        }
    }

    private func cancelled(_ frame: SimulatedFrame, _ peer: JoinedPeer) {
        guard let place = peer.pending.firstIndex(where: { $0.id == frame.id }) else { return }
        referee.checkReason(ofCancel: peer.pending[place].request)
        referee.requests[peer.pending[place].request].isCalleeTold = true
        // Some answer a request although it was cancelled.
        if numbers.chance(2, in: 3) { peer.pending.remove(at: place) }
    }

    /// Lets a module of a node that has something to answer do so.
    func answer(_ step: NodeStep, anyOf node: JoinedNode) {
        let busy = node.peers.filter { $0.isUsable && !$0.pending.isEmpty }
        guard !busy.isEmpty else { return }
        let peer = busy[step.b % busy.count]
        let place = step.c % peer.pending.count
        let served = peer.pending[place]
        switch step.kind {
        case .partial:
            guard served.credit > 0, referee.requests[served.request].kind != "report" else { return }
            peer.pending[place].credit -= 1
            let number = newReply()
            if referee.requests[served.request].answer == nil {
                referee.requests[served.request].partials.append(number)
            }
            send(peer, #"{"kind":"reply","id":\#(served.id),"more":true}"#, #"{"r":\#(number)}"#)
        case .fail where referee.requests[served.request].kind != "report":
            peer.pending.remove(at: place)
            fail(served, peer, step.c >> 4)
        default:
            peer.pending.remove(at: place)
            reply(served, peer)
        }
    }

    private func newReply() -> Int {
        nextReply += 1
        return nextReply
    }

    private func reply(_ served: JoinedPeer.Served, _ peer: JoinedPeer) {
        let number = newReply()
        if referee.requests[served.request].answer == nil { referee.requests[served.request].answer = .reply(number) }
        send(peer, #"{"kind":"reply","id":\#(served.id)}"#, #"{"r":\#(number)}"#)
    }

    /// The errors that a callee may send, and what its caller should get.
    private static let errors: [(said: String, code: String, ran: BusError.Ran)] = [
        (#""code":"Own.error""#, "Own.error", .yes), (#""code":"failed","ran":"maybe""#, "failed", .maybe),
        (#""code":"overloaded""#, "overloaded", .no), (#""code":"unknown-action""#, "unknown-action", .no),
        (#""code":"died""#, "failed", .yes), (#""code":"bad-params","ran":"no""#, "bad-params", .no),
    ]

    private func fail(_ served: JoinedPeer.Served, _ peer: JoinedPeer, _ choice: Int) {
        let error = Self.errors[choice % Self.errors.count]
        if referee.requests[served.request].answer == nil {
            referee.requests[served.request].answer = .error(code: error.code, ran: error.ran)
        }
        send(peer, #"{"kind":"error","id":\#(served.id),\#(error.said)}"#)
    }

    /// All modules answer what they have.
    func answerAll() {
        for node in nodes {
            for peer in node.peers where peer.isUsable {
                let pending = peer.pending
                peer.pending = []
                for served in pending {
                    referee.checkCancel(of: served.request, at: peer)
                    reply(served, peer)
                }
            }
        }
    }
}
