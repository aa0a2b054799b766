import StrataBus
import StrataCore

/// Judges starts that fail: they hold up no other row, and no request waits for them.
extension Referee {
    /// What the referee knows of the starts of rows. It leaves out rows that are replaced under
    /// `overlap`, whose two sessions are more than it can tell apart, and rows that were retired.
    struct Starts {
        /// The rows whose start has failed once.
        fileprivate var everFailed: Set<Int> = []
        /// The rows whose last start has failed, as far as neither a session nor the launcher has
        /// followed.
        fileprivate var failed: Set<Int> = []
        var retired: Set<Int> = []
        fileprivate var hasBegun = false

        /// The rows about whose processes the launcher's requests say something, by the request.
        var spoken: [Int: Int] = [:]

        /// Notes that the bus has handled a request, which may be the launcher's word about a row.
        mutating func handled(_ request: Int) {
            if let place = spoken[request] { failed.remove(place) }
        }
    }

    /// Handles the answer of a session to one of the bus's own calls.
    func stepAnswered(_ to: String, _ answer: SimulatedAnswer, of session: SimulatedSession) {
        guard to == "module/setUp" || to == "module/initialize" else { return }
        guard case .error = answer.kind else {
            if to == "module/setUp" { session.life.isSetUp = true } else { becameReady(session) }
            return
        }
        expect(
            session.connection?.hasSession != true, .start,
            "\(session.name) has failed in \(to), and its session continues")
        let place = session.place
        guard place >= 0, app.isSingle(place), !starts.retired.contains(place) else { return }
        starts.everFailed.insert(place)
        if self.session(ofRow: place) == nil { starts.failed.insert(place) }
    }

    /// Checks the starts, after the bus has done everything that is due.
    func checkStarts(_ hasRoom: (SimulatedSession) -> Bool) {
        for session in sessions where session.isLive {
            if session.role == .launcher { starts.hasBegun = true }
            if session.place >= 0 { starts.failed.remove(session.place) }
            if hasRoom(session) { checkTurn(of: session) }
        }
        for number in open where requests[number].state == .handled && requests[number].delivery.sessions.isEmpty {
            let request = requests[number]
            let sender = sessions[request.session]
            guard sender.isLive, hasRoom(sender), let place = request.waitsFor, starts.failed.contains(place) else {
                continue
            }
            expect(
                false, .failedStart,
                "\(name(request)) waits for \(app.modules[place].row.name), whose start has failed")
        }
    }

    /// Checks that an eager row is in its `setUp`, or beyond, if all rows before it have done theirs
    /// or have failed.
    private func checkTurn(of session: SimulatedSession) {
        guard starts.hasBegun, session.life.isWelcome, isJudged(session.place),
            !session.life.isSetUp, !session.served.contains(where: { $0.to == "module/setUp" })
        else { return }
        let rank = app.modules[session.place].row.rank
        let before = app.modules.indices.filter {
            app.modules[$0].row.start == .eager && app.modules[$0].row.rank < rank
        }
        let isItsTurn = before.allSatisfy { place in
            starts.everFailed.contains(place)
                || isJudged(place) && self.session(ofRow: place)?.life.isSetUp == true
        }
        expect(
            !isItsTurn, .start,
            "\(session.name) waits for its setUp, and all rows before it have done theirs or have failed")
    }

    private func isJudged(_ place: Int) -> Bool {
        place >= 0 && app.modules[place].row.start == .eager && app.isSingle(place)
            && !starts.retired.contains(place)
    }
}

extension SimulatedRequest {
    /// The row for which it waits in the bus, if nothing else can keep it there.
    fileprivate var waitsFor: Int? {
        switch target {
        case .action(let owner, let action): action == "b" ? nil : owner
        case .url(let owner, _), .report(let owner): owner
        default: nil
        }
    }
}
