import StrataCore

/// Opening URLs of other apps. A link to another app's broker is a peer that serves: its requests
/// end, stream, wait and are counted as those of a module.
extension BusCore {
    /// Returns the app whose scheme a peer may open: a module what its own row lists, an operator
    /// what any row lists.
    func otherApp(of url: UnsafeRawBufferPointer, for peer: Peer) -> OtherApp? {
        guard !modules.rows.allSatisfy({ $0.row?.opens.isEmpty != false }), let url = try? BusURL(url) else {
            return nil
        }
        func find(_ opened: [AppTable.Opened]?) -> OtherApp? { opened?.first { $0.scheme == url.scheme }?.app }
        switch peer.role {
        case .module: return find(peer.module?.row?.opens)
        case .operator: return find(table.modules.flatMap(\.opens))
        case .none, .launcher, .app, .link, .nodeLink, .node: return nil
        }
    }

    /// Opens a URL in another app.
    func open(in app: OtherApp, _ header: borrowing Header, from peer: Peer) throws(BusError) {
        let request = Request(to: header.url, url: header.url, trace: header.trace, meta: header.meta)
        send(try openRequest(.call, header, from: peer), request, to: app, from: peer)
    }

    /// Asks another app whether it can open a URL now.
    func canOpen(in app: OtherApp, _ asked: BusCall) throws(BusError) {
        // An app that isn't up is an answer, too.
        do throws(BusError) { _ = try link(to: app) } catch {
            return writeReply(asked.peer, id: asked.id, ["open": false, "reason": .string(error.code.rawValue)])
        }
        let call = try openRequest(.call, asked.header.pointee, from: asked.peer)
        let header = asked.header
        send(
            call, Request(to: header.pointee.to, trace: header.pointee.trace, body: asked.body), to: app,
            from: asked.peer)
    }

    private func send(_ call: CallPointer, _ request: Request, to app: OtherApp, from peer: Peer) {
        if routes.actionNames.isFull { sweepActionNames() }
        call.pointee.action = routes.actionNames.number(of: request.url.isEmpty ? "bus/canOpen" : app.text)
        do throws(BusError) {
            let link = try link(to: app)
            if link.limits != nil { return try deliver(call, request, on: link) }
            let held = HeldRequest(HeldRequest.Copy(request), nil)
            try checkRoom(for: held, of: peer)
            try require(
                link.wait(call, most: table.limits.waiting), .overloaded,
                "\(table.limits.waiting) requests wait for \(app.text) already (limits.waiting): try later")
            keep(held, for: call, of: peer)
        } catch {
            fail(call, error)
        }
    }

    /// Queues a request to another app's broker, within that broker's limits: beyond them it would
    /// end the connection, and with it the requests of others.
    private func deliver(_ call: CallPointer, _ request: Request, on link: Link) throws(BusError) {
        let (peer, limits) = (link.peer, link.limits ?? frameLimits)
        countUnsent(call, request, to: peer)
        let room =
            HeaderWriter.room(request.to) + request.trace.count + request.meta.count + HeaderWriter.overhead / 2
        let escapes = request.to.count { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
        let header = request.to.count + escapes + request.trace.count + request.meta.count + HeaderWriter.overhead / 2
        let frame = header + request.body.count + 4
        try require(
            header <= limits.header && frame <= limits.frame, .badURL,
            "the URL makes a header of up to \(header) bytes in a frame of \(frame), and \(link.app.text) takes "
                + "\(limits.header) in \(limits.frame): use a shorter URL, or less meta")
        let count = request.body.count + room
        try require(
            fitsRequest(count, peer, new: count), .overloaded,
            "the queue to \(link.app.text) is full: \(whatIsFullForRequest(count, peer)); wait for answers")
        call.pointee.wasSent(to: peer)
        peer.addServed(call)
        peer.wasUsed(at: now)
        if monitors.isOn { monitorDelivered(call, request, to: peer) }
        let remaining = remaining(call)
        let kind = request.url.isEmpty ? Header.Kind.call : .open
        call.pointee.end = queue(kind, to: peer, room: room, body: request.body, isAnswer: false) { writer in
            writer.integer("id", call.pointee.id)
            writer.string(kind == .open ? "url" : "to", request.to)
            writer.integer("deadline", remaining)
            writer.integer("credit", call.pointee.stream.credit)
            writer.integer("depth", UInt64(call.pointee.depth))
            writer.passOn(request.trace, request.meta)
        }
    }

    // MARK: The connection

    private static let helloID: UInt64 = 1

    /// Returns the link to another app, and connects it if there is none.
    private func link(to app: OtherApp) throws(BusError) -> Link {
        if let link = links.find(app) { return link }
        let surplus = try surplusLink()
        try require(
            connections.count - (surplus == nil ? 0 : 1) < mostConnections - Self.keptConnections, .overloaded,
            "the last \(Self.keptConnections) of \(mostConnections) connections are kept for operators and the launcher"
        )
        let peer = try host.connect(to: app)
        // Only now, so that no app that can't be reached costs another one its connection.
        if let surplus {
            links.remove(surplus)
            event.add(.close(surplus.peer))
        }
        let link = Link(app, peer)
        links.add(link)
        peer.setOtherApp(app.text)
        peer.identify(as: .link, nil, rank: 0)
        connections.add(peer)
        setAlarm(.hello, of: peer, after: table.hello)
        let hello: JSON = ["protocol": 1, "role": "app", "app": .string(table.app)]
        _ = hello.encoded().withUnsafeBytes { body in
            queue(.call, to: peer, room: 0, body: body, isAnswer: false) { writer in
                writer.integer("id", Self.helloID)
                writer.string("to", "bus/hello" as StaticString)
            }
        }
        return link
    }

    /// Returns the link that makes room for another one; nil if there is room.
    private func surplusLink() throws(BusError) -> Link? {
        guard links.links.count >= LinkTable.most else { return nil }
        guard let idle = links.longestIdle else {
            throw BusError(
                .overloaded, "\(LinkTable.most) other apps serve requests, the most at once: try again later")
        }
        return idle
    }

    /// Takes the answer to this broker's hello.
    func greeted(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, by peer: Peer) {
        // Frames that follow a refusal mean nothing.
        guard let link = links.find(peer) else { return }
        guard header.kind == .reply, header.id == Self.helloID, !header.more, let limits = Self.limits(body) else {
            if header.kind == .error {
                link.said(header.code.text, header.message.text)
            } else {
                link.said("bad-frame", "its answer to hello can't be understood")
            }
            linkEnded(peer)
            return event.add(.close(peer))
        }
        link.greeted(limits)
        move(peer, .admitted)
        cancelAlarm(.hello, of: peer)
        peer.wasUsed(at: now)
        setAlarm(.idle, of: peer, after: LinkTable.idleTime)
        for call in link.takeWaiting() {
            unhold(call).withRequest { request in
                do throws(BusError) { try deliver(call, request, on: link) } catch { fail(call, error) }
            }
        }
    }

    /// Reads the limits in an answer to hello; nil if it has none.
    private static func limits(_ body: UnsafeRawBufferPointer) -> FrameLimits? {
        guard let limits = try? BodyLimit.ordinary.read(body, of: "the answer to hello")["limits"],
            let frame = limits["frame"]?.integer.flatMap({ UInt32(exactly: $0) }),
            let header = limits["header"]?.integer.flatMap({ UInt32(exactly: $0) }), header > 0
        else { return nil }
        return FrameLimits(frame: frame, header: header)
    }

    /// Notes why the other broker ends the connection.
    func noteLastWord(_ header: borrowing Header, of peer: Peer) {
        links.find(peer)?.said(header.code.text, header.message.text)
    }

    /// Why a link's requests died, for messages.
    func lastWord(of peer: Peer) -> String {
        guard let word = links.find(peer)?.lastWord, !word.isEmpty else { return "its connection closed" }
        return "it said \(word)"
    }

    func linkDidNotAnswer(_ peer: Peer) {
        links.find(peer)?.said("not-registered", "it did not answer hello within \(table.hello) ms")
        event.add(.close(peer))
    }

    /// Closes a link that has served nothing for long.
    func linkIdleTimePassed(_ peer: Peer) {
        let isUsed = peer.servedCount > 0 || now - min(now, peer.lastRequest) < LinkTable.idleTime
        guard isUsed else { return event.add(.close(peer)) }
        setAlarm(
            .idle, of: peer, at: max(now + 1, (peer.servedCount > 0 ? now : peer.lastRequest) + LinkTable.idleTime))
    }

    /// Ends what waits for a link that has closed or was ended.
    /// - Parameter error: the error that this broker ended it with; nil if it didn't.
    func linkEnded(_ peer: Peer, with error: BusError? = nil) {
        guard let link = links.find(peer) else { return }
        links.remove(link)
        let reason =
            error.map { "this broker ended it with \($0.code): \($0.message)" }
            ?? (link.lastWord.isEmpty ? "it closed it" : link.lastWord)
        for call in link.takeWaiting() {
            fail(call, .unavailable, "\(link.app.text) did not take this app's connection: \(reason)")
        }
    }

    /// Ends the links that no row wants any more.
    func endFormerLinks() {
        let wanted = table.otherApps
        for link in links.links where !wanted.contains(link.app) {
            end(link.peer, .shuttingDown, "the manifest of \(table.app) doesn't list \(link.app.text) any more")
        }
    }
}
