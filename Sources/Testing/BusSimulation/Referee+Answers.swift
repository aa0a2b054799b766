import StrataCore

/// Judges answers: each ends one request, and must be true to what happened.
extension Referee {
    func answered(_ frame: SimulatedFrame, _ session: SimulatedSession) {
        if frame.code == "incompatible", frame.id < 2 { refusedAsMisfit(session) }
        guard frame.id != 0 else {
            session.link.wasTold = true
            return
        }
        if frame.id == 1 {
            if frame.kind == .reply { welcomed(frame, session) }
            return
        }
        guard let number = session.open[frame.id] else {
            return expect(
                session.reused.contains(frame.id), .onceAnswered,
                "\(session.name) got a \(frame.kind.name) to \(frame.id), which isn't open (\(frame.code))")
        }
        expect(
            requests[number].state == .handled || !session.isLive, .known,
            "\(name(requests[number])) was answered before the bus had handled it")
        if frame.more {
            partial(frame, number)
        } else {
            final(frame, number, session)
        }
    }

    private func welcomed(_ frame: SimulatedFrame, _ session: SimulatedSession) {
        session.life.isWelcome = true
        let numbers = Self.subscriptions(frame.body)
        expect(
            numbers.count == session.observations.count || session.life.joinedAt == .max, .observed,
            "\(session.name) has \(session.observations.count) observations, and got the numbers \(numbers)")
        for (place, number) in zip(session.observations.indices, numbers) {
            session.observations[place].number = number
        }
    }

    private static func subscriptions(_ body: [UInt8]) -> [Int] {
        guard let value = try? JSON(parsing: body), let list = value["subscriptions"]?.array else { return [] }
        return list.compactMap { $0.integer.map(Int.init) }
    }

    private func partial(_ frame: SimulatedFrame, _ number: Int) {
        let request = requests[number]
        switch request.target {
        case .bus: return
        default: break
        }
        let place = request.stream.seen
        expect(
            place < request.stream.handled.count && request.stream.handled[place] == frame.number("r"), .credit,
            "\(name(request)) got the partial reply \(frame.number("r")) as number \(place) of \(request.stream.handled)"
        )
        requests[number].stream.seen += 1
        expect(
            requests[number].stream.seen <= request.stream.credit, .credit,
            "\(name(request)) got \(requests[number].stream.seen) partial replies, and gave credit for \(request.stream.credit)"
        )
    }

    private func final(_ frame: SimulatedFrame, _ number: Int, _ session: SimulatedSession) {
        session.open[frame.id] = nil
        open.removeAll { $0 == number }
        linkUsed(by: number)
        let request = requests[number]
        requests[number].state = .ended
        requests[number].end.order = handledFrames
        session.ended.append(number)
        requests[number].end.code = frame.kind == .error ? frame.code : "reply"
        if frame.kind == .reply {
            expect(!session.isLink, .links, "\(name(request)) was answered, and it may ask nothing")
            replied(frame, request, session)
        } else {
            failed(frame, request, session)
        }
    }

    private func replied(_ frame: SimulatedFrame, _ request: SimulatedRequest, _ session: SimulatedSession) {
        switch request.target {
        case .elsewhere(let url) where url.isAsked && isOwnAnswer(frame):
            expect(
                request.delivery.sessions.isEmpty, .answered,
                "\(name(request)) was answered by the bus, and delivered")
        case .action, .instance, .url, .elsewhere:
            guard case .reply = request.answer?.kind else {
                return expect(
                    false, .answered,
                    "\(name(request)) got a reply, and its callee has answered \(request.answer.map { "\($0)" } ?? "nothing")"
                )
            }
            expect(
                request.answer?.number == frame.number("r"), .answered,
                "\(name(request)) got the reply \(frame.number("r")), and its callee's is \(request.answer?.number ?? -1)"
            )
            expect(
                request.stream.seen == request.stream.handled.count, .credit,
                "\(name(request)) got \(request.stream.seen) of \(request.stream.handled.count) partial replies")
        case .report:
            let observers = Int((try? JSON(parsing: frame.body))?["observers"]?.integer ?? -1)
            expect(
                observers == request.delivery.sessions.count && request.delivery.open == 0, .answered,
                "\(name(request)) was answered by \(observers) observers; \(request.delivery.sessions.count) got it, and \(request.delivery.open) of them have not answered"
            )
        case .broadcast:
            let recipients = (try? JSON(parsing: frame.body))?["recipients"]?.integer ?? -1
            expect(
                recipients >= Int64(request.delivery.sessions.count), .complete,
                "\(name(request)) had \(recipients) recipients")
        case .observe(let what):
            guard let subscription = (try? JSON(parsing: frame.body))?["subscription"]?.integer else { return }
            session.observations.append(
                SimulatedObservation(number: Int(subscription), what: what, since: request.handling.order))
        case .unobserve(let number):
            guard let place = session.observations.firstIndex(where: { $0.number == number }) else {
                return expect(false, .observed, "\(name(request)) was accepted, and there is no such observation")
            }
            session.observations[place].until = request.handling.order
        case .create(let owner):
            guard let instance = (try? JSON(parsing: frame.body))?["instance"]?.string else { return }
            expect(
                sessions.allSatisfy { $0.instances.created[instance] == nil } || !instance.contains("#"), .instances,
                "\(instance) was created twice")
            guard instance.contains("#") else { return }
            expect(
                creations.consented.contains(instance), .instances,
                "\(session.name) has created \(instance), and its owner has not consented")
            session.instances.created[instance] = .max
            session.instances.last = instance
            let now = self.session(ofRow: owner)?.number ?? -1
            created.append((instance, session.number, now == request.owner ? now : -1))
            expect(
                tables(of: request).contains { app.mayCreate(session.place, owner, rank: session.rank, by: $0) },
                .policy,
                "\(session.name) has created an instance at \(app.modules[owner].row.name), which it may not call")
        case .release(let instance):
            session.instances.created[instance] = request.handling.order
            session.instances.last = nil
        case .bus:
            // `bus/ping` alone has an empty answer.
            expect(
                !session.isOtherApp || frame.body == Array("{}".utf8), .outside,
                "\(name(request)) was answered with \(frame.body.count) bytes")
        }
    }

    private func failed(_ frame: SimulatedFrame, _ request: SimulatedRequest, _ session: SimulatedSession) {
        let wasAnswered: Bool
        // An answer that finds no room in its caller's queue is replaced with another error, which keeps an error's
        // `ran` (section 13).
        let isTooMuch = frame.code == "overloaded" && frame.text.contains("limits.")
        if case .error(let code, let ran) = request.answer?.kind, code == frame.code, !isTooMuch {
            wasAnswered = true
            let expected = ran == .no && request.delivery.sessions.count > 1 ? .maybe : ran
            expect(
                frame.ran == expected || ran == .no && frame.ran == .maybe && isReport(request), .ran,
                "\(name(request)) failed as its callee says, ran \(ran), and it got \(frame.ran)")
        } else {
            wasAnswered = false
        }
        switch frame.ran {
        case .no:
            if case .error(_, .no) = request.answer?.kind { break }
            requests[request.number].end.neverRan = true
            expect(
                request.delivery.sessions.isEmpty, .ran,
                "\(name(request)) ended with \(frame.code) and ran no, and was delivered to \(sessions[request.delivery.sessions.first ?? 0].name)"
            )
        case .maybe:
            // The bus finishes a frame that it has begun to write. So the request may be
            // delivered after its end.
            let mayHaveBegun = sessions.contains { $0.input.isWithinFrame }
            expect(
                !request.delivery.sessions.isEmpty || mayHaveBegun || request.isBusCall, .ran,
                "\(name(request)) ended with \(frame.code) and ran maybe, and was not delivered")
        case .yes:
            expect(
                wasAnswered || frame.code == "overloaded" || frame.code == "too-large"
                    || isRefusedCreation(frame, request),
                .ran,
                "\(name(request)) ended with \(frame.code) and ran yes; its callee answered \(request.answer.map { "\($0)" } ?? "nothing")"
            )
        }
        checkRoot(of: frame, request, wasAnswered: wasAnswered)
        guard !wasAnswered else { return }
        judge(frame, request, session)
    }

    /// Whether the request is a report. If it has several observers, `no` of one becomes `maybe`, even
    /// while the notices of the others are still on their way.
    private func isReport(_ request: SimulatedRequest) -> Bool {
        if case .report = request.target { true } else { false }
    }

    /// Whether a table's rules forbid the request.
    private func isRefused(_ request: SimulatedRequest, _ session: SimulatedSession, by table: AppTable) -> Bool {
        if session.place >= table.modules.count { return true }
        return switch request.target {
        case .action(let owner, _): !app.mayCall(session.place, owner, rank: session.rank, by: table)
        case .create(let owner): !app.mayCreate(session.place, owner, rank: session.rank, by: table)
        case .instance: table.calls != .any
        case .report(let target):
            app.modules[target].row.rank > session.rank || table.calls == .declared && session.place < 0
        case .broadcast: table.calls == .declared && session.place < 0
        default: false
        }
    }

    /// Checks that the bus may answer with this error code.
    private func judge(_ frame: SimulatedFrame, _ request: SimulatedRequest, _ session: SimulatedSession) {
        switch frame.code {
        case "deadline-exceeded":
            expect(
                request.expiry <= now, .deadline,
                "\(name(request)) ended with deadline-exceeded \(request.expiry == .max ? 0 : request.expiry - now) ms before its deadline"
            )
        case "cancelled":
            expect(
                request.isCancelled || isParentOver(request) || request.parent == -2, .parent,
                "\(name(request)) was cancelled, and its sender has not cancelled it")
        case "too-deep":
            expect(
                request.depth > tables[request.handling.table].limits.depth, .depth,
                "\(name(request)) was refused with too-deep, and its depth is \(request.depth)")
        case "died", "unavailable", "overloaded", "bad-url", "unknown-scheme":
            if case .elsewhere(let url) = request.target {
                judge(frame, request, session, of: url)
            } else if frame.code == "overloaded" {
                judgeOverload(frame, request, session)
            } else if frame.code == "unavailable" {
                judgeUnavailable(frame, request)
            }
        case "forbidden" where session.isOtherApp:
            expect(
                !isOpenable(request), .refusedRightly, "\(name(request)) was forbidden, and its URL is public")
        case "level-violation", "undeclared":
            expect(
                tables(of: request).contains { isRefused(request, session, by: $0) } && session.role != .operator,
                .refusedRightly,
                "\(name(request)) of rank \(session.rank) was refused with \(frame.code), and breaks no rule")
        case "unauthorized":
            expect(
                request.wantsAuthorization && !request.isAllowed, .authorization,
                "\(name(request)) was refused with unauthorized, and "
                    + "\(request.isAllowed ? "is allowed" : "needs no authorization")"
            )
        default: break
        }
    }

    /// Checks that the bus may answer with `overloaded`.
    func judgeOverload(_ frame: SimulatedFrame, _ request: SimulatedRequest, _ session: SimulatedSession) {
        if frame.text.contains("limits.held") {
            expect(
                requests.contains { $0.session == session.number && $0.waited(at: request.handling.order) }, .quota,
                "\(name(request)) was refused for limits.held, and nothing of \(session.name) waits")
        } else if frame.text.contains("open requests (limits.calls)") {
            expect(
                session.open.count + session.endedSince(request.handling.order, requests)
                    >= tables[request.handling.table].limits.calls,
                .quota,
                "\(name(request)) was refused with overloaded, and \(session.name) has \(session.open.count) requests open"
            )
        }
    }
}

extension SimulatedRequest {
    /// Whether the bus itself answers the request.
    var isBusCall: Bool {
        switch target {
        case .bus, .observe, .unobserve, .create, .release: true
        default: false
        }
    }

    /// Whether its callee has answered. For a report: whether one observer failed, or all have
    /// answered.
    var hasAnswer: Bool {
        guard case .report = target, answer?.kind == .reply else { return answer != nil }
        return delivery.open == 0
    }

    /// Whether the request goes to a module.
    var isForwarded: Bool {
        switch target {
        case .action, .instance, .url, .report, .elsewhere: true
        default: false
        }
    }

    /// Whether the request may have waited in the bus when the bus had handled `order` frames.
    func waited(at order: Int) -> Bool {
        if case .create = target { return handling.order < order && end.order >= order }
        return isForwarded && mayWait && handling.order < order && delivery.order >= order && end.order >= order
    }

    var wantsAuthorization: Bool { if case .action(_, "b") = target { !skipsAuthorization } else { false } }
}
