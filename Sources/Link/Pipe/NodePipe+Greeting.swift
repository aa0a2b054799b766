/// The handshake.
extension NodePipe {
    /// A message of the other node, which should be a control message.
    public mutating func received(control bytes: UnsafeRawBufferPointer, at now: UInt64) {
        let message: ControlMessage
        do { message = try ControlMessage(reading: bytes) } catch {
            count(\.badControls)
            if case .version(let version) = error, !life.hasSession {
                state = NodeState(
                    word: .mismatch, since: now,
                    why: "its link speaks version \(version) of the protocol between nodes, and this one's "
                        + "\(ControlMessage.version): install the same version of Strata on both")
            }
            return
        }
        switch message {
        case .hello(let greeting) where !settings.saysHello && greeting.node == settings.other:
            receivedHello(greeting, at: now)
        case .welcome(let greeting) where settings.saysHello && greeting.node == settings.other:
            // Another welcome is a late or a doubled one.
            if life == .greeting, greeting.session == nextSession {
                begin(greeting.session, otherWindow: greeting.window, at: now)
            }
        case .bye(let session, let code): receivedBye(session, code, at: now)
        case .hello, .welcome, .probe, .claim: count(\.badControls)
        }
    }

    private mutating func receivedHello(_ greeting: ControlMessage.Greeting, at now: UInt64) {
        switch known.judge(greeting) {
        case .former: count(\.stale)
        case .over: byeDue = (greeting.session, .unknownSession)
        case .known:
            switch life {
            case .up, .stalled: welcomeIsDue = true
            case .opening: break
            case .idle, .greeting, .closing: byeDue = (greeting.session, .unknownSession)
            }
        case .new(let isNewLink):
            switch life {
            case .idle, .greeting: accept(greeting, at: now)
            case .opening, .up, .stalled:
                // So that nobody has the broker connected anew all the time.
                if now - beganAt < PipeTimes.shortestPenalty { penalty.add(at: now, lived: now - beganAt) }
                end(isNewLink ? .newLink : .newSession, at: now)
                awaitedHello = greeting
            case .closing: awaitedHello = greeting
            }
        }
    }

    /// Accepts a hello, unless the broker has just ended a session. The other link repeats it.
    mutating func accept(_ greeting: ControlMessage.Greeting, at now: UInt64) {
        guard !isShutDown else {
            byeDue = (greeting.session, .shuttingDown)
            return
        }
        guard now >= penalty.until else { return }
        known.accept(greeting)
        begin(greeting.session, otherWindow: greeting.window, at: now)
    }

    private mutating func receivedBye(_ over: UInt64, _ code: ByeCode, at now: UInt64) {
        switch life {
        case .opening where over == session, .up where over == session, .stalled where over == session:
            end(.bye(code), at: now)
        case .greeting where over == nextSession:
            life.take(.rejected)
            nextSession += 1
        case .idle, .greeting, .opening, .up, .stalled, .closing: count(\.stale)
        }
    }

    /// Returns the hello that is due.
    mutating func takeHello(at now: UInt64) -> ControlMessage? {
        guard let due = helloDueAt, now >= due else { return nil }
        if life == .idle { life.take(.greeted) }
        nextHelloAt = now + PipeTimes.sign
        return .hello(greeting(nextSession))
    }

    /// When the next hello is due; nil if this link says none.
    var helloDueAt: UInt64? {
        guard settings.saysHello, !isShutDown, carrierIsUp, life == .idle || life == .greeting else { return nil }
        return max(nextHelloAt, penalty.until)
    }

    func greeting(_ session: UInt64) -> ControlMessage.Greeting {
        ControlMessage.Greeting(
            node: settings.me, link: settings.link, session: session, window: settings.window)
    }
}
