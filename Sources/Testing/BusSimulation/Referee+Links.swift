import StrataBus
import StrataCore

/// Judges the bus's connections to other apps, and the URLs that its peers open there.
extension Referee {
    /// What the referee knows of other apps.
    struct Links {
        /// Whether each app can be reached.
        var isUp: [Bool]
        /// When an app was last out of reach or lost its connection, in nanoseconds.
        fileprivate var troubleAt: [UInt64?]
        /// When an app's last request ended at the latest, in milliseconds. Only the bus knows of those
        /// that it has taken back before they were written.
        fileprivate var usedAt: [UInt64]

        init(_ count: Int) {
            isUp = Array(repeating: true, count: count)
            troubleAt = Array(repeating: nil, count: count)
            usedAt = Array(repeating: 0, count: count)
        }
    }

    // MARK: What happens to a connection

    /// Answers the bus, which wants to connect to an app.
    func isReached(_ app: OtherApp, at time: UInt64) -> Bool {
        guard let other = self.app.others.firstIndex(of: app) else { return false }
        if !links.isUp[other] { links.troubleAt[other] = time }
        return links.isUp[other]
    }

    func linkMade(_ session: SimulatedSession) {
        let live = sessions.filter { $0.isLink && $0.connection?.isServed == true }
        expect(live.count <= LinkTable.most, .links, "there are \(live.count) connections to other apps")
        expect(
            live.count { $0.role == session.role } <= 1, .links,
            "the bus has connected to \(session.name) for the second time")
    }

    /// Takes what an app says before the bus has accepted its answer to hello.
    func greeted(_ meaning: SimulatedSession.Meaning, _ session: SimulatedSession) {
        guard case .greeting(let header?) = meaning, !session.link.isRefused else {
            return session.link.isRefused = true
        }
        session.link.header = header
        session.life.isWelcome = true
        session.link.usedAt = now
        if case .link(let other) = session.role { links.usedAt[other] = now }
    }

    /// Notes that a request is open, or has just ended, if it is for another app.
    func linkUsed(by number: Int) {
        if case .elsewhere(let url) = requests[number].target { links.usedAt[url.other] = now }
    }

    /// Notes that a connection to an app has ended.
    func hadTrouble(_ other: Int) { links.troubleAt[other] = time }

    func linkEnded(_ session: SimulatedSession) {
        guard case .link(let other) = session.role else { return }
        hadTrouble(other)
        session.link.endedAt = time
        // Closed without a word, though the app has neither closed nor broken a rule.
        guard session.life.isWelcome, session.pipe.isClosedByBroker, session.connection?.hasUnwritten == false,
            !session.pipe.isClosed, !session.pipe.hasEndedWriting, !session.link.wasTold
        else { return }
        expect(
            session.served.allSatisfy(\.isCancelled)
                && (now >= session.link.usedAt + LinkTable.idleTime || app.others.count > LinkTable.most), .links,
            "\(session.name) was closed \(now - session.link.usedAt) ms after its last request")
    }

    // MARK: What comes to another app

    /// Checks a request that came to another app.
    func opened(_ frame: SimulatedFrame, _ session: SimulatedSession) {
        if frame.to == "bus/hello" {
            expect(
                !session.link.isGreeted && frame.id == 1
                    && frame.body == Array(#"{"protocol":1,"role":"app","app":"\#(app.table.app)"}"#.utf8), .links,
                "\(session.name) got a hello that isn't one, or a second one")
            return session.link.isGreeted = true
        }
        let number = SimulatedLink.number(in: frame)
        guard number >= 0, number < requests.count, case .elsewhere(let url) = requests[number].target else {
            return expect(false, .links, "\(session.name) got a \(frame.kind.name) that no peer has sent")
        }
        let request = requests[number]
        session.arrivals.creditOf[frame.id] = frame.credit
        session.served.append(.init(id: frame.id, request: number, to: "\(frame.kind.name)"))
        session.link.usedAt = max(session.link.usedAt, request.handling.time / 1_000_000)
        linkUsed(by: number)
        delivered(request, to: session)
        expect(
            request.delivery.sessions.isEmpty, .links,
            "\(name(request)) was delivered to \(session.name), for the second time")
        expect(
            session.role == .link(url.other) && SimulatedLink.url(in: frame) == url.text(number)
                && url.isAsked == (frame.to == "bus/canOpen") && (url.isAsked || frame.body.isEmpty)
                && frame.from.isEmpty && frame.depth == request.depth, .links,
            "\(name(request)) came to \(session.name) as another one")
        let sender = sessions[request.session]
        expect(
            tables(of: request).contains { mayOpen(url.other, sender, by: $0) != false }, .links,
            "\(name(request)) was delivered, and no row of its sender lists the scheme")
        expect(
            frame.header.count <= session.link.header ?? 0, .links,
            "\(name(request)) came to \(session.name) with a header of \(frame.header.count) bytes")
        checkDeadline(frame, request)
        requests[number].delivery.sessions.append(session.number)
        requests[number].delivery.order = handledFrames
        inOrder(request, at: session)
    }

    /// Whether a peer may open URLs of another app; nil if it is a replica that the table has no more.
    private func mayOpen(_ other: Int, _ sender: SimulatedSession, by table: AppTable) -> Bool? {
        if sender.place >= table.modules.count { return nil }
        let lists = { (row: AppTable.Row) in row.opens.contains { $0.app == self.app.others[other] } }
        return sender.role == .operator
            ? table.modules.contains(where: lists) : sender.place >= 0 && lists(table.modules[sender.place])
    }

    // MARK: What comes back

    /// Whether the bus itself has answered a `bus/canOpen`.
    func isOwnAnswer(_ frame: SimulatedFrame) -> Bool { (try? JSON(parsing: frame.body))?["open"] == false }

    /// Checks that the bus may answer an open of another app's URL with this error code.
    func judge(
        _ frame: SimulatedFrame, _ request: SimulatedRequest, _ session: SimulatedSession, of url: SimulatedLink.URL
    ) {
        switch frame.code {
        case "died", "unavailable":
            expect(
                links.troubleAt[url.other].map { $0 >= request.handling.time } == true, .links,
                "\(name(request)) ended with \(frame.code), and nothing has happened to its app")
            expect(
                (frame.code == "died") == !request.delivery.sessions.isEmpty || frame.code == "died", .links,
                "\(name(request)) ended with unavailable, and was delivered")
        case "overloaded" where frame.text.contains("other apps serve requests"):
            let most = sessions.count { $0.isLink && $0.link.endedAt >= request.handling.time }
            expect(
                most >= LinkTable.most, .links,
                "\(name(request)) was refused, and there were \(most) connections at most")
        case "overloaded": judgeOverload(frame, request, session)
        case "bad-url":
            expect(
                sessions.contains {
                    $0.role == .link(url.other) && ($0.link.header ?? .max) < url.text(request.number).utf8.count + 256
                }, .links, "\(name(request)) was refused with bad-url, and its app takes it")
        default:
            expect(
                tables(of: request).contains { mayOpen(url.other, session, by: $0) != true }, .links,
                "\(name(request)) was refused with \(frame.code), and its sender's row lists the scheme")
        }
    }

    /// Checks the connections, after the bus has done everything that is due.
    func checkLinks(_ hasRoom: (SimulatedSession) -> Bool) {
        for number in open where requests[number].state == .handled { linkUsed(by: number) }
        for session in sessions where session.isLink && session.connection?.isServed == true && hasRoom(session) {
            guard case .link(let other) = session.role, session.life.isWelcome else {
                expect(
                    now < session.link.madeAt + table.hello, .links,
                    "\(session.name) has not answered hello for \(now - session.link.madeAt) ms, and is connected")
                continue
            }
            expect(
                now < links.usedAt[other] + LinkTable.idleTime || !session.served.allSatisfy(\.isCancelled), .links,
                "\(session.name) has had no request for \(now - links.usedAt[other]) ms, and is connected")
        }
        for number in open where requests[number].state == .handled {
            guard case .elsewhere(let url) = requests[number].target, requests[number].answer == nil,
                sessions[requests[number].session].isLive, hasRoom(sessions[requests[number].session])
            else { continue }
            let callee = requests[number].delivery.sessions.first.map { sessions[$0] }
            let mayEnd =
                callee.map { $0.connection?.isServed == true }
                ?? sessions.contains { $0.role == .link(url.other) && $0.connection?.isServed == true }
            expect(mayEnd, .links, "\(name(requests[number])) is open, and its connection is gone")
        }
    }
}
