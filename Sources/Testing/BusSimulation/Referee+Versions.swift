import StrataCore

/// Judges versions: under `contracts: enforced` the sessions that serve fit each other.
extension Referee {
    /// The sessions that serve as their modules. A session that starts beside the one that serves
    /// isn't among them, nor one that another has taken over from.
    private var serving: [SimulatedSession] {
        var places: Set<Int> = []
        return mayServe.filter { session in
            session.connection?.isServed == true && (session.place < 0 || places.insert(session.place).inserted)
        }
    }

    /// The sessions that serve, or did at the beginning of the bus's turn.
    private var mayServe: [SimulatedSession] {
        sessions.filter { $0.isModule && $0.isLive && $0.life.replacedBy < 0 }
    }

    /// Notes that a session is ready. Then it has taken over from its row's other session.
    func becameReady(_ session: SimulatedSession) {
        session.life.isReady = true
        session.life.readyAt = handledFrames
        session.life.isMisfit = isMisfit(session)
        guard session.place >= 0 else { return }
        for other in sessions where other.place == session.place && other.number < session.number && other.isLive {
            other.life.replacedBy = session.number
        }
    }

    /// Whether a session doesn't fit one of another module that serves.
    func isMisfit(_ session: SimulatedSession) -> Bool {
        serving.contains { !fit($0, session, table) || !fit(session, $0, table) }
    }

    /// Handles the refusal of a table that a reload brought.
    func refused(_ table: AppTable) {
        let present = mayServe
        expect(
            present.contains { one in present.contains { !fit(one, $0, table) } }, .contracts,
            "a reload was refused, and all live modules fit")
    }

    /// Whether a provider serves what another session requires.
    private func fit(_ provider: SimulatedSession, _ requirer: SimulatedSession, _ table: AppTable) -> Bool {
        let place = provider.place
        guard table.contracts == .enforced, place >= 0, place != requirer.place, requirer.isModule,
            table.modules[place].contracts != .off, let provided = provider.versions.provided
        else { return true }
        var required = [requirer.versions.required[place]]
        if requirer.place >= 0 {
            let row = table.modules[requirer.place]
            if row.contracts == .off { return true }
            required += row.requires.filter { $0.name == app.modules[place].interface }.map(\.version)
        }
        return required.allSatisfy { $0.map(provided.serves) ?? true }
    }

    /// Checks that no two sessions serve that don't fit.
    func checkVersions() {
        guard table.contracts == .enforced else { return }
        let serving = serving
        for one in serving {
            for other in serving where !fit(one, other, table) {
                expect(false, .contracts, "\(one.name) doesn't serve what \(other.name) requires, and both are live")
            }
        }
    }

    /// Handles the refusal of a session with `incompatible`, at its hello or when it was ready.
    func refusedAsMisfit(_ session: SimulatedSession) {
        expect(
            session.life.isMisfit || isMisfit(session), .contracts,
            "\(session.name) was refused with incompatible, and fits all live modules")
        // It hasn't taken over.
        for other in sessions where other.life.replacedBy == session.number { other.life.replacedBy = -1 }
    }
}
