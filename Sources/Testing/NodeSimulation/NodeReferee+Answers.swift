import StrataCore

/// Judges answers: each is for an open request, and must be true to what happened.
extension NodeReferee {
    /// Judges an answer to a request.
    func answered(_ frame: SimulatedFrame, _ number: Int, at peer: JoinedPeer) {
        guard !frame.more else { return partial(frame, number) }
        let request = requests[number]
        peer.open[frame.id] = nil
        let isReply = frame.kind == .reply
        requests[number].end = (isReply ? "reply" : frame.code, isReply ? .yes : frame.ran, time)
        if isReply {
            replied(frame, request)
        } else {
            failed(frame, request)
        }
    }

    private func partial(_ frame: SimulatedFrame, _ number: Int) {
        let request = requests[number]
        expect(
            request.seen < request.partials.count && request.partials[request.seen] == frame.number("r"), .credit,
            "\(name(request)) got the partial reply \(frame.number("r")), number \(request.seen) of \(request.partials)"
        )
        requests[number].seen += 1
        expect(
            request.seen < request.credit, .credit,
            "\(name(request)) got over \(request.credit) partial replies, its credit")
    }

    private func replied(_ frame: SimulatedFrame, _ request: JoinedRequest) {
        guard request.kind != "report" else {
            let observers = (try? JSON(parsing: frame.body))?["observers"]?.integer ?? -1
            return expect(
                request.begun.count == Int(observers) && (observers == 0 || request.answer != nil), .answered,
                "\(name(request)) was answered by \(observers) observers, and began at \(request.begun.count)")
        }
        expect(
            request.answer == .reply(frame.number("r")), .answered,
            "\(name(request)) got the reply \(frame.number("r")), and its callee sent \(said(request))")
        expectAllPartials(request)
    }

    private func failed(_ frame: SimulatedFrame, _ request: JoinedRequest) {
        let what = "\(name(request)) ended as \(frame.code) with ran: \(frame.ran) (\(frame.text))"
        if request.refusal == "level-violation" {
            return expect(frame.code == "level-violation" && frame.ran == .no, .levels, "\(what): it goes up")
        }
        if case .error(frame.code, let ran) = request.answer {
            expect(frame.ran == ran, .ran, "\(what), and its callee said ran: \(ran)")
            return expectAllPartials(request)
        }
        switch frame.ran {
        case .no where request.saysNo: break
        case .no: expect(request.begun.isEmpty, .ran, "\(what), and it had begun")
        case .yes: expect(!request.begun.isEmpty, .ran, "\(what), and it had not begun")
        case .maybe: break
        }
        switch frame.code {
        case "forbidden": expect(request.refusal == "forbidden", .verdict, what)
        case "cancelled": expect(request.isCancelled, .verdict, "\(what), and was not cancelled")
        case "deadline-exceeded": expect(isOverdue(request), .verdict, "\(what), before its deadline")
        case "died":
            expect(
                wasApart(request) || hasDied(request), app.rows[request.row].hasReplicas ? .death : .verdict,
                "\(what), and nothing had died")
        case "unavailable":
            expect(
                wasApart(request) || wasAbsent(request, replica: request.replica) || mayBeQuarantined(request),
                .verdict, "\(what), and all was well")
            expect(frame.ran == .no, .ran, what)
        case "overloaded": expect(app.isTight, .verdict, "\(what), and nothing was full")
        default: expect(false, .verdict, what)
        }
    }

    /// The brokers' clocks differ by a microsecond for each event.
    private static let drift: UInt64 = 20_000_000

    func isOverdue(_ request: JoinedRequest) -> Bool {
        time + Self.drift >= request.deadline.map { request.sent.time + $0 * 1_000_000 } ?? .max
    }

    private func expectAllPartials(_ request: JoinedRequest) {
        expect(
            request.seen == request.partials.count, .credit,
            "\(name(request)) got \(request.seen) of \(request.partials.count) partial replies before its answer")
    }

    private func said(_ request: JoinedRequest) -> String { request.answer.map { "\($0)" } ?? "nothing" }
}
