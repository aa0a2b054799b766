import StrataCore

/// Judges calls and notices: each was sent, is allowed, and arrives once and in order.
extension Referee {
    func called(_ frame: SimulatedFrame, _ session: SimulatedSession) {
        session.arrivals.creditOf[frame.id] = frame.credit
        guard frame.to.hasPrefix("I") || frame.to.hasPrefix("N") else {
            expect(
                frame.from == "bus" || isManaging(frame), .known,
                "\(frame.to) came to \(session.name) from \(frame.from)")
            if frame.to == "module/released", let instance = (try? JSON(parsing: frame.body))?["instance"]?.string {
                expect(
                    session.instances.released.insert(instance).inserted, .instances,
                    "\(session.name) was notified twice that \(instance) has ended")
            }
            if frame.to == "module/create" { asked(toCreate: frame, session) }
            if frame.to == "module/instanceEnded" { toldOfAnEnd(frame, session) }
            return session.served.append(.init(id: frame.id, request: -1, to: frame.to))
        }
        let number = frame.number()
        guard number >= 0, number < requests.count else {
            return expect(false, .known, "a call of \(frame.to) came to \(session.name) that no peer has sent")
        }
        if frame.from == "bus" { return asked(frame, number, session) }
        session.served.append(.init(id: frame.id, request: number, to: frame.to))
        let request = requests[number]
        let sender = sessions[request.session]
        delivered(request, to: session)
        expect(!sender.isOtherApp || isOpenable(request), .outside, "\(name(request)) came to \(session.name)")
        expect(frame.from == sender.name, .known, "\(name(request)) came from \(frame.from)")
        expect(
            request.delivery.sessions.isEmpty, .known,
            "\(name(request)) was delivered to \(session.name), for the second time"
        )
        switch request.target {
        case .action(let owner, let action):
            expect(
                app.row(of: session.place) == owner && frame.to == "\(app.modules[owner].interface)/\(action)", .known,
                "\(name(request)) came to \(session.name) as \(frame.to)")
            expect(
                sender.role == .operator
                    || tables(of: request).contains { app.mayCall(sender.place, owner, rank: sender.rank, by: $0) },
                .policy,
                "\(name(request)) of rank \(sender.rank) was delivered to \(session.name) of rank \(session.rank) under \(table.calls)"
            )
            let mayAct = action != "b" || request.isAllowed || request.skipsAuthorization && isTrusted(sender, request)
            let isOwn = owner == app.authorizer
            expect(
                mayAct || isOwn, .authorization, "\(name(request)) was delivered, and the authorizer has not allowed it"
            )
        case .url(let owner, let url):
            expect(
                app.row(of: session.place) == owner && frame.to == "\(app.modules[owner].interface)/\(url.action)",
                .known,
                "\(name(request)) came to \(session.name) as \(frame.to)")
            expect(
                frame.url == url.text(owner, number) && frame.body == Array(url.body(number).utf8), .known,
                "\(name(request)) came to \(session.name) with the URL \(frame.url) and another's body")
        case .instance(let instance):
            expect(
                frame.to.hasPrefix("\(instance)/"), .known, "\(name(request)) came to \(session.name) as \(frame.to)")
            expect(
                request.handling.order < sender.instances.created[instance] ?? 0, .instances,
                "\(name(request)) was delivered, and \(instance) is not \(sender.name)'s")
        default: expect(false, .known, "\(name(request)) came to \(session.name) as a call")
        }
        checkDeadline(frame, request)
        checkKey(of: request, at: session)
        requests[number].delivery.sessions.append(session.number)
        requests[number].delivery.order = handledFrames
        inOrder(request, at: session)
    }

    /// Whether a module may give the launcher this order (section 5, Permissions).
    private func isManaging(_ frame: SimulatedFrame) -> Bool {
        guard let sender = app.modules.first(where: { $0.row.name == frame.from })?.row,
            let name = (try? JSON(parsing: frame.body))?["module"]?.string
        else { return false }
        return sender.manages.contains(name) && AppTable.Row.managing.contains { frame.to == "launcher/\($0)" }
    }

    /// Whether another app may make the request.
    func isOpenable(_ request: SimulatedRequest) -> Bool {
        // A rest, and the host `*`, lead to no public URL.
        guard case .url(let owner, .bound) = request.target else { return false }
        return SimulatedApp.isPublic(owner) && tables(of: request).contains(where: isOpenable)
    }

    /// Whether the simulated peers' user may open public URLs.
    func isOpenable(_ table: AppTable) -> Bool { table.openableBy?.users.contains(SimulatedApp.user) == true }

    /// Whether the sender may skip the authorizer.
    private func isTrusted(_ sender: SimulatedSession, _ request: SimulatedRequest) -> Bool {
        sender.place >= 0
            && tables(of: request).contains {
                sender.place >= $0.modules.count || $0.modules[sender.place].trusted
            }
    }

    /// Checks a call that asks the authorizer.
    private func asked(_ frame: SimulatedFrame, _ number: Int, _ session: SimulatedSession) {
        session.served.append(.init(id: frame.id, request: -1, to: "\(number)"))
        let request = requests[number]
        expect(
            session.place == app.authorizer && frame.to.hasSuffix("/authorize"), .authorization,
            "\(session.name) is asked about \(name(request)) by \(frame.to)")
    }

    func delivered(_ request: SimulatedRequest, to session: SimulatedSession) {
        expect(
            request.state != .sent, .known, "\(name(request)) was delivered before the bus had handled it")
        expect(
            !request.isOneTooMany, .quota,
            "\(name(request)) was delivered, and \(tables[request.handling.table].limits.calls) of its sender's were open before it"
        )
        expect(
            request.depth <= tables[request.handling.table].limits.depth, .depth,
            "\(name(request)) of depth \(request.depth) was delivered")
        expect(
            !request.end.neverRan, .ran,
            "\(name(request)) was delivered to \(session.name) after it had ended with \(request.end.code) and ran no")
    }

    func checkDeadline(_ frame: SimulatedFrame, _ request: SimulatedRequest) {
        if frame.deadline == 0 {
            expect(request.expiry == .max, .deadline, "\(name(request)) was delivered without its deadline")
        } else {
            let most = request.expiry == .max ? 0 : Int(request.expiry - request.handling.time / 1_000_000)
            expect(
                frame.deadline <= most, .deadline,
                "\(name(request)) was delivered with a deadline of \(frame.deadline) ms, and has \(most) ms at most")
        }
    }

    /// Checks that frames of one sender arrive in the order in which they were sent.
    func inOrder(_ request: SimulatedRequest, at session: SimulatedSession) {
        guard request.handling.order != .max, !request.wantsAuthorization else { return }
        // Requests to replicas may overtake each other, except those with the same key.
        if app.hasReplicas(session.place), request.isForwarded { return inOrderOfKey(request, at: session) }
        // Requests that wait for a module keep their order among themselves.
        let key = request.mayWait ? -1 - request.session : request.session
        let last = session.arrivals.lastFrom[key] ?? -1
        expect(
            request.handling.order >= last, .order,
            "\(name(request)) came to \(session.name) after one that was sent later")
        session.arrivals.lastFrom[key] = max(last, request.handling.order)
    }

    private func inOrderOfKey(_ request: SimulatedRequest, at session: SimulatedSession) {
        guard request.key > 0 else { return }
        let key = SimulatedSession.KeyOfSender(sender: request.session, key: request.key)
        let last = session.arrivals.lastWithKey[key] ?? -1
        expect(
            request.handling.order >= last, .order,
            "\(name(request)) came to \(session.name) after one with the same key that was sent later")
        session.arrivals.lastWithKey[key] = max(last, request.handling.order)
    }

    func noticed(_ frame: SimulatedFrame, _ session: SimulatedSession) {
        let number = frame.number()
        guard number >= 0, number < requests.count else {
            return expect(false, .known, "a notice \(frame.name) came to \(session.name) that no peer has sent")
        }
        let request = requests[number]
        let sender = sessions[request.session]
        delivered(request, to: session)
        expect(!sender.isOtherApp, .outside, "\(name(request)) came to \(session.name)")
        expect(
            frame.from == sender.name && frame.name == "n\(request.name)"
                && frame.object == (request.object.map { "o\($0)" } ?? ""), .known,
            "\(name(request)) came to \(session.name) as \(frame.name) of \(frame.from)")
        // An operator's report has no level (section 7).
        let level = frame.id != 0 && sender.role == .operator ? "" : SimulatedApp.levels[request.rank]
        expect(
            frame.level == level, .known,
            "\(name(request)) came to \(session.name) with the level \"\(frame.level)\", and not \"\(level)\"")
        guard let place = observation(frame, session) else {
            return expect(
                false, .observed,
                "\(name(request)) came to \(session.name) for its observation \(frame.subscription), which doesn't "
                    + "exist")
        }
        let what = session.observations[place].what
        expect(
            what.name == request.name && (what.object == nil || what.object == request.object), .observed,
            "\(name(request)) came to \(session.name) for an observation of \(what.json)")
        expect(
            request.handling.order < session.observations[place].until, .observed,
            "\(name(request)) came to \(session.name) for an observation that has ended")
        if frame.id != 0 {
            reported(frame, request, session)
        } else {
            expect(
                request.rank < session.rank, .direction,
                "\(name(request)) of rank \(request.rank) was broadcast to \(session.name) of rank \(session.rank)")
            // Held notices come late, and keep their order among themselves.
            let mayWake = app.wakes(session.place, what)
            let last = mayWake ? session.arrivals.lastWaking : session.arrivals.lastBroadcast
            expect(
                request.handling.order >= last, .sameOrder,
                "\(name(request)) came to \(session.name) after a later broadcast")
            if mayWake {
                session.arrivals.lastWaking = max(last, request.handling.order)
                woken(request, place, session)
            } else {
                session.arrivals.lastBroadcast = max(last, request.handling.order)
            }
            shared(request, what, at: session)
            session.observations[place].broadcasts += 1 + frame.missed
            expect(
                what.isLatest || frame.missed == 0 || mayWake, .complete,
                "\(session.name) has missed \(frame.missed) of an observation that keeps all")
            requests[number].delivery.sessions.append(session.number)
            if mayWake { return }
        }
        inOrder(request, at: session)
    }

    /// Checks that a broadcast that may have been held comes once, to whichever session of the row.
    private func woken(_ request: SimulatedRequest, _ observation: Int, _ session: SimulatedSession) {
        // The observations of hello are the row's.
        guard observation < session.observed.count else { return }
        let delivered = Delivered(place: session.place, observation: observation, request: request.number)
        expect(
            held.insert(delivered).inserted, .complete,
            "\(name(request)) came to \(session.name) for the second time, for its observation \(observation)")
    }

    /// Returns the place of a notice's observation. Observations of hello get their numbers from
    /// its answer, which arrives before any notice.
    private func observation(_ frame: SimulatedFrame, _ session: SimulatedSession) -> Int? {
        session.observations.firstIndex { $0.number == frame.subscription }
    }

    private func reported(_ frame: SimulatedFrame, _ request: SimulatedRequest, _ session: SimulatedSession) {
        session.served.append(.init(id: frame.id, request: request.number, to: frame.name))
        guard case .report(let target) = request.target else {
            return expect(false, .known, "\(name(request)) came to \(session.name) as a report")
        }
        expect(app.row(of: session.place) == target, .known, "\(name(request)) came to \(session.name)")
        checkKey(of: request, at: session)
        expect(
            request.rank >= session.rank || sessions[request.session].role == .operator, .direction,
            "\(name(request)) of rank \(request.rank) was reported to \(session.name) of rank \(session.rank)")
        requests[request.number].delivery.sessions.append(session.number)
        requests[request.number].delivery.order = handledFrames
        requests[request.number].delivery.open += 1
    }

    /// Checks that an observer that has read everything got each broadcast once, or heard how
    /// many it missed.
    func check(_ observation: SimulatedObservation, of session: SimulatedSession) {
        // With `replace: overlap`, a new process takes over the observations when it is ready, so
        // their count isn't exact.
        let isShared =
            observation.what.isShared || session.place >= 0 && app.modules[session.place].row.replace == .overlap
        // Held notices are from before the session.
        let mayWake = app.wakes(session.place, observation.what)
        let isExact = observation.until == .max && !app.isTight && !isShared && !mayWake
        let matching = broadcasts[observation.what.name].count { number in
            let request = requests[number]
            return (mayWake || request.handling.order > observation.since) && request.handling.order < observation.until
                && request.rank < session.rank
                && (observation.what.object == nil || observation.what.object == request.object)
                && request.end.code != "overloaded"
        }
        expect(
            isExact ? observation.broadcasts == matching : observation.broadcasts <= matching, .complete,
            "\(session.name)'s observation \(observation.number) of \(observation.what.json) got or missed \(observation.broadcasts) of \(matching) broadcasts"
        )
    }
}
