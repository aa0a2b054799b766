import StrataBus
import StrataCore

/// Judges what is left when all is well again.
extension NodeReferee {
    /// A callee that still serves a request whose caller has its answer, or is gone, must have got a cancel.
    func checkCancel(of number: Int, at peer: JoinedPeer) {
        let request = requests[number]
        // For a second the cancel may be on its way.
        let isOver = request.end.map { $0.time + 1_000_000_000 < time } ?? !peers[request.caller].isUsable
        expect(
            !isOver || request.isCalleeTold || request.kind == "report", .cancelled,
            "\(name(request)) has ended as \(request.end?.code ?? "gone"), and \(peer.label) got no cancel")
    }

    /// Compares what each node's broker knows with what is there.
    func settled(_ nodes: [JoinedNode]) {
        for peer in peers where peer.isUsable {
            for (_, number) in peer.open.sorted(by: { $0.key < $1.key }) {
                expect(false, .ended, "\(name(requests[number])) has no answer")
            }
        }
        for node in nodes {
            for other in nodes where other !== node {
                guard let seen = node.broker.seen(other.name) else {
                    expect(false, .rejoined, "\(node.name) knows no node \(other.name)")
                    continue
                }
                let what = "\(node.name) sees \(other.name)"
                expect(seen.state == "up", .rejoined, "\(what) as \(seen.state): \(seen.reason)")
                let here = other.peers.filter { $0.isUsable && $0.isWelcome }.compactMap(\.row)
                let ready = Set(here.map { app.rows[$0].name }).sorted()
                expect(seen.ready == ready, .rejoined, "\(what)'s modules \(seen.ready) as ready, and it has \(ready)")
                let observed = observed(on: other)
                expect(
                    seen.observed == observed, .rejoined,
                    "\(what) observe \(seen.observed), and it observes \(observed)")
                expect(
                    seen.open == 0 && seen.queued == 0, .rejoined,
                    "\(what) with \(seen.open) open requests and \(seen.queued) bytes in the queue")
            }
        }
    }

    /// The names that a node's modules observe, each with the latest rank of an observer.
    private func observed(on node: JoinedNode) -> [String: Int] {
        var observed: [String: Int] = [:]
        for peer in node.peers where peer.row != nil && peer.isUsable && peer.isWelcome {
            observed[JoinedApp.reported] = max(observed[JoinedApp.reported] ?? 0, peer.rank)
            for observation in peer.observations {
                let row = app.rows[observation.row]
                let name = observation.byPattern ? row.pattern : row.broadcast
                observed[name] = max(observed[name] ?? 0, peer.rank)
            }
        }
        return observed
    }
}
