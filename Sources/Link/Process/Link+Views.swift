internal import StrataCore
internal import StrataLoop
internal import StrataPipe

/// What the broker is told of the other nodes, for `strata nodes`.
extension Link {
    /// Reports what has changed, if a report is due.
    func reportViews() {
        guard ending == nil, let control, control.takesViews else { return }
        let now = Loop.nanoseconds
        let changed = reports.take(at: now) { view(of: nodes[$0].pipe.view) }
        guard !changed.isEmpty else { return }
        let wall = Loop.wallMicroseconds / 1_000
        control.report(
            views: ["nodes": .array(changed.map { nodes[$0].json(view(of: nodes[$0].pipe.view), at: now, wall) })])
    }

    /// Returns a view with the reason that counts: without NATS, no node can be heard.
    private func view(of view: NodeView) -> NodeView {
        var view = view
        if !carrier.isUp, view.state.word == .never || view.state.word == .lost {
            view.state.why = "this node's link has no connection to NATS"
        }
        return view
    }
}

extension NodeLink {
    /// Returns a view as the broker takes it.
    /// - Parameters:
    ///   - now: the time on the pipe's clock.
    ///   - wall: the same, in milliseconds since 1970.
    fileprivate func json(_ view: NodeView, at now: UInt64, _ wall: UInt64) -> JSON {
        let age = (now - min(view.state.since, now)) / PipeTimes.millisecond
        return [
            "name": .string(name), "state": .string(view.state.word.rawValue),
            "since": .integer(Int64(clamping: wall - min(age, wall))), "why": .string(view.state.why),
            "rttMicroseconds": .integer(Int64(clamping: (view.roundTrip + 999) / 1_000)),
            "unackedBytes": .integer(Int64(view.unacknowledged)), "resentBytes": .integer(Int64(clamping: view.resent)),
            "gaps": .integer(Int64(clamping: view.gaps)), "sessions": .integer(Int64(clamping: view.sessions)),
        ]
    }
}

extension Link.Ending {
    /// What the broker is told of an end that a person has to mend; nil for another one.
    var refusal: JSON? {
        switch self {
        case .unguarded: ["state": "unguarded", "why": "the NATS server lets anybody speak in any node's name"]
        case .nameTaken: ["state": "name-taken", "why": "another link is connected to NATS with this node's name"]
        case .shutDown, .broker, .refused: nil
        }
    }
}
