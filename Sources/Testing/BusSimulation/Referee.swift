import StrataBus
import StrataCore

/// The judge of a simulated bus, by the protocol's page.
///
/// It knows what peers have sent, in which order the bus has handled it, and what has arrived. It
/// knows nothing about how the bus decides.
final class Referee {
    let app: SimulatedApp
    var sessions: [SimulatedSession] = []
    var requests: [SimulatedRequest] = []
    /// The requests that were sent and have not ended, by their numbers.
    var open: [Int] = []
    /// The broadcasts that the bus has handled, by the notification's number.
    var broadcasts = [[Int]](repeating: [], count: SimulatedApp.notifications)
    /// The broadcasts that rows got for observations whose notices may be held.
    var held: Set<Delivered> = []

    /// A broadcast that came to a session of a row for an observation of its hello.
    struct Delivered: Hashable {
        let place: Int
        let observation: Int
        let request: Int
    }

    /// All instances so far, each with the session that created it and the session that owns it.
    var created: [(name: String, creator: Int, owner: Int)] = []
    /// All tables so far. The last one is in force.
    private(set) var tables: [AppTable]
    /// The number of frames that the bus has handled.
    var handledFrames = 0
    /// The bus's clock, in nanoseconds.
    var time: UInt64 = 0
    private(set) var finding: BrokenRule<SimulationRule>?
    var starts = Starts()
    var creations = Creations()
    /// Whether the bus has taken a table over that a reload brought.
    var isInForce: (AppTable) -> Bool = { _ in true }
    var links: Links
    var replicas = Replicas()

    init(_ app: SimulatedApp) {
        self.app = app
        tables = [app.table]
        links = Links(app.others.count)
    }

    var table: AppTable { tables[tables.count - 1] }

    /// The tables that were in force while the bus had a request.
    func tables(of request: SimulatedRequest) -> ArraySlice<AppTable> { tables[request.handling.table...] }

    var now: UInt64 { time / 1_000_000 }

    /// Records the first rule that is broken.
    func expect(_ holds: Bool, _ rule: SimulationRule, _ message: @autoclosure () -> String) {
        guard !holds, finding == nil else { return }
        finding = BrokenRule(rule: rule, message: message())
    }

    func name(_ request: SimulatedRequest) -> String {
        "\(sessions[request.session].name)'s request \(request.id) (number \(request.number), \(request.target))"
    }

    /// Returns the live session of a row.
    func session(ofRow place: Int) -> SimulatedSession? {
        sessions.last { $0.place == place && $0.connection?.hasSession == true }
    }

    // MARK: What the bus has handled

    func handled(_ meaning: SimulatedSession.Meaning, of session: SimulatedSession) {
        handledFrames += 1
        if session.isLink, !session.life.isWelcome { greeted(meaning, session) }
        switch meaning {
        case .hello: session.life.isMisfit = isMisfit(session)
        case .greeting, .other: break
        case .table(let table):
            if isInForce(table) {
                tables.append(table)
                replicasChanged { $0 >= table.modules.count }
            } else {
                refused(table)
            }
        case .request(let number): handled(request: number, of: session)
        case .answer(let id, let number, let answer): handled(answer, to: number, serving: id, of: session)
        case .verdict(let number, let isAllowed): if isAllowed { requests[number].isAllowed = true }
        case .cancel(let number):
            if isOpen(number) { requests[number].isCancelled = true }
        case .credit(let number, let credit):
            guard isOpen(number), requests[number].isForwarded else { return }
            // A report is not a stream.
            if case .report = requests[number].target { return }
            requests[number].stream.credit += credit
            restart(number)
        }
    }

    private func handled(request number: Int, of session: SimulatedSession) {
        var request = requests[number]
        guard request.state == .sent else { return }
        request.state = .handled
        request.handling.order = handledFrames
        request.handling.time = time
        request.handling.table = tables.count - 1
        starts.handled(number)
        switch request.target {
        case .broadcast:
            let isAllowed =
                !session.isOtherApp && !session.isLink
                && (table.calls != .declared || session.place >= 0 || session.role == .operator)
            if isAllowed { broadcasts[request.name].append(number) }
            if request.id == 0 { request.state = .ended }
        case .action(let owner, let action):
            request.mayWait = action == "b" || mayWait(for: owner)
        case .url(let owner, _): request.mayWait = mayWait(for: owner)
        case .report(let target): request.mayWait = mayWait(for: target)
        case .instance, .elsewhere: request.mayWait = true
        case .create(let owner) where app.isSingle(owner):
            request.owner = self.session(ofRow: owner)?.number ?? -1
        default: break
        }
        let served = session.open.values.count { isServed($0) }
        if served >= table.limits.calls, request.isForwarded { request.isOneTooMany = true }
        requests[number] = request
        restart(number)
    }

    /// Whether a row's module may not be ready, or may not have got earlier requests that waited
    /// for it. A launcher retires modules, so if there is one, only the bus knows exactly.
    private func mayWait(for place: Int) -> Bool {
        app.hasLauncher || app.hasReplicas(place) || session(ofRow: place)?.life.isReady != true
            || open.contains { mayStillWait(requests[$0], for: place) }
    }

    private func mayStillWait(_ request: SimulatedRequest, for place: Int) -> Bool {
        guard request.state == .handled, request.delivery.order == .max else { return false }
        switch request.target {
        case .action(let owner, "b"): return owner == place || app.authorizer == place
        case .action(let owner, _), .url(let owner, _), .report(let owner): return request.mayWait && owner == place
        case .create(let owner): return owner == place
        // Its owner isn't known here.
        case .instance: return true
        case .broadcast, .observe, .unobserve, .release, .bus, .elsewhere: return false
        }
    }

    /// Whether a callee certainly has the request and has not answered.
    private func isServed(_ number: Int) -> Bool {
        // A partial reply may have found no room, which ends the request.
        requests[number].isForwarded && requests[number].stream.handled.isEmpty
            && !requests[number].delivery.sessions.isEmpty && !isOver(number)
            && requests[number].delivery.sessions.allSatisfy { sessions[$0].connection?.isServed == true }
    }

    /// Whether the bus has the request open. Its sender may not know of its end yet.
    func isOpen(_ number: Int) -> Bool {
        let request = requests[number]
        return request.state == .handled && !request.isCancelled && !request.stream.isOverdrawn && request.expiry > now
    }

    /// Whether the request has ended, or ends now because its parent has ended.
    func isOver(_ number: Int) -> Bool {
        let request = requests[number]
        return !isOpen(number) || request.isTakenBack || request.hasAnswer
            || sessions[request.session].connection?.isServed != true
            || isParentOver(request)
    }

    /// Whether the parent of a request has ended.
    func isParentOver(_ request: SimulatedRequest) -> Bool {
        guard request.parent >= 0 else { return false }
        // A report ends when all notices are answered, but each notice ends by itself.
        if case .report = requests[request.parent].target {
            return isOver(request.parent) || !sessions[request.session].served.contains { $0.id == request.parentID }
        }
        return isOver(request.parent)
    }

    /// Starts a request's deadline: when the request is handled, and again at each step of a
    /// stream.
    private func restart(_ number: Int) {
        let request = requests[number]
        guard !request.isEndless else { return }
        var expiry = request.deadline.map { now + UInt64($0) } ?? .max
        if request.parent >= 0 { expiry = min(expiry, requests[request.parent].expiry) }
        requests[number].expiry = expiry
    }

    private func handled(_ answer: SimulatedAnswer, to number: Int, serving id: UInt64, of session: SimulatedSession) {
        if answer.kind != .partial, let place = session.served.firstIndex(where: { $0.id == id }) {
            let served = session.served.remove(at: place)
            if number >= 0 {
                // A partial reply may have found no room, which ends the request.
                if isOpen(number), requests[number].stream.handled.isEmpty { session.link.usedAt = now }
                linkUsed(by: number)
            }
            if served.to == "module/create" { creationAnswered(id, answer, of: session) }
            stepAnswered(served.to, answer, of: session)
        }
        guard number >= 0, isOpen(number) else { return }
        switch answer.kind {
        case .partial:
            // The bus drops a partial reply to a notice (section 7).
            if case .report = requests[number].target { return }
            guard requests[number].stream.handled.count < requests[number].stream.credit else {
                requests[number].stream.isOverdrawn = true
                return
            }
            requests[number].stream.handled.append(answer.number)
            restart(number)
        case .reply, .error:
            if case .report = requests[number].target { requests[number].delivery.open -= 1 }
            // If several observers answer, the first error counts.
            if requests[number].answer.map({ $0.kind == .reply }) ?? true {
                requests[number].answer = answer
                requests[number].answeredAt = handledFrames
            }
        }
    }

    // MARK: What happened to a session

    func joined(_ session: SimulatedSession) {
        session.life.joinedAt = handledFrames
        expect(
            !session.isOtherApp || isOpenable(table), .outside, "\(session.name) has a session, and openableBy lacks it"
        )
        session.observations = session.observed.map { SimulatedObservation(number: 0, what: $0, since: handledFrames) }
    }

    func ended(_ session: SimulatedSession) { session.life.endedAt = handledFrames }

    // MARK: What has come

    func arrived(_ frame: SimulatedFrame, at session: SimulatedSession) {
        switch frame.kind {
        case .reply, .error: answered(frame, session)
        case .call where session.isLink, .open where session.isLink: opened(frame, session)
        case .call: called(frame, session)
        case .notice: noticed(frame, session)
        case .cancel:
            guard let place = session.served.firstIndex(where: { $0.id == frame.id }) else { return }
            session.served[place].isCancelled = true
            let number = session.served[place].request
            guard number >= 0 else { return }
            requests[number].isTakenBack = true
            linkUsed(by: number)
        case .credit:
            session.arrivals.creditOf[frame.id, default: 0] += frame.credit
        default: expect(false, .form, "a \(frame.kind.name) came to \(session.name)")
        }
        if frame.kind != .reply, frame.kind != .error, frame.to != "bus/hello" {
            expect(
                session.life.isWelcome, .joined, "a \(frame.kind.name) came to \(session.name) before hello's answer")
        }
    }

    // MARK: The end

    /// Checks what must hold when nothing more happens: all peers have read everything, and time
    /// has passed.
    func settled() {
        for number in open {
            let request = requests[number]
            guard request.state == .handled, sessions[request.session].isLive, request.expiry != .max else { continue }
            expect(
                request.expiry > now, .ended,
                "\(name(request)) has no answer, \(now - request.expiry) ms after its deadline")
        }
        for instance in created where instance.owner >= 0 && sessions[instance.owner].isLive {
            let creator = sessions[instance.creator]
            let hasEnded = creator.life.endedAt != .max || creator.instances.created[instance.name] != .max
            expect(
                hasEnded == sessions[instance.owner].instances.released.contains(instance.name), .instances,
                "\(instance.name) \(hasEnded ? "has ended" : "exists"), and its owner was "
                    + "\(hasEnded ? "not notified" : "notified that it ended")"
            )
        }
        checkShares()
        for session in sessions where session.isLive && session.life.isWelcome {
            for observation in session.observations { check(observation, of: session) }
            for served in session.served where served.request >= 0 && !served.isCancelled {
                // After one observer fails a report, the other observers continue, without a
                // cancel.
                if case .report = requests[served.request].target, requests[served.request].answer != nil { continue }
                expect(
                    requests[served.request].state != .ended, .cancelled,
                    "\(session.name) serves \(served.to) (\(served.id)), which has ended, and got no cancel")
            }
        }
    }

    /// When the next deadline passes, in milliseconds; nil if no request has one.
    var nextExpiry: UInt64? {
        var next: UInt64?
        for number in open where requests[number].state == .handled && requests[number].expiry != .max {
            next = min(next ?? .max, requests[number].expiry)
        }
        return next
    }

    /// Checks that a callee has got exactly the credit that was given for a call.
    private func checkCredit(of served: SimulatedSession.Served, at session: SimulatedSession) {
        let request = requests[served.request]
        if case .report = request.target { return }
        guard !served.isCancelled, !isOver(served.request) else { return }
        let credit = session.arrivals.creditOf[served.id] ?? 0
        expect(
            credit == request.stream.credit, .credit,
            "\(name(request)) has given credit for \(request.stream.credit), and \(session.name) got \(credit)")
    }

    /// Checks deadlines and quotas, after the bus has done everything that is due.
    func checkDeadlines(_ hasRoom: (SimulatedSession) -> Bool) {
        checkStarts(hasRoom)
        checkLinks(hasRoom)
        for session in sessions where session.isLive && hasRoom(session) {
            for served in session.served where served.request >= 0 { checkCredit(of: served, at: session) }
        }
        let guests = sessions.count { if case .guest = $0.role { $0.isLive } else { false } }
        expect(
            guests <= table.guests?.most ?? 0, .quota,
            "there are \(guests) guests, and \(table.guests?.most ?? 0) may be"
        )
        for number in open {
            let request = requests[number]
            guard request.state == .handled else { continue }
            let session = sessions[request.session]
            guard session.isLive, hasRoom(session) else { continue }
            expect(
                request.expiry > now, .deadline,
                "\(name(request)) has no answer \(now - min(now, request.expiry)) ms after its deadline of \(request.deadline ?? -1) ms"
            )
            expect(
                !isParentOver(request), .parent,
                "\(name(request)) continues, and the call that it was made for has ended")
        }
    }
}
