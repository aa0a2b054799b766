/// What the carrier brings.
extension NodePipe {
    /// The carrier is connected, and guards the nodes' names.
    /// - Parameter largestMessage: the most bytes that it takes in a message, the header included.
    public mutating func carrierConnected(largestMessage: Int, at now: UInt64) {
        precondition(!carrierIsUp, "the carrier connected twice")
        carrierIsUp = true
        carrierHasRoom = true
        largestPayload = max(1, min(largestMessage - PieceHeader.size, PieceHeader.largestPayload))
        nextHelloAt = now
        guard life.isOpen else { return }
        life.take(.stalled(.silent))
        // What was on its way is lost, perhaps both ways.
        receiving.forgetAsking()
        resendIsDue = true
        signDueAt = now
    }

    /// The carrier is no longer connected. Nothing is published until it is again.
    public mutating func carrierDisconnected(at now: UInt64) {
        precondition(carrierIsUp, "the carrier disconnected twice")
        carrierIsUp = false
        if life.isOpen { stall(.carrierLost, at: now) }
    }

    /// Whether the carrier takes more pieces at the moment. It has room when it connects.
    public mutating func carrierRoomChanged(_ hasRoom: Bool) { carrierHasRoom = hasRoom }

    /// The carrier says that nobody took a message to the other node.
    public mutating func noResponders(at now: UInt64) {
        switch life {
        case .greeting:
            if state.word == .never || state.word == .lost { state.why = Self.nobody }
        case .up, .stalled(.silent):
            // An older message may be meant: a sign at once shows it.
            stall(.noResponders, at: now)
        case .idle, .opening, .stalled(.noResponders), .stalled(.carrierLost), .closing: break
        }
    }

    static let nobody = "no link listens in its name: it isn't running, or has no connection to NATS"

    /// A message of the other node, which should be a piece.
    public mutating func received(piece bytes: UnsafeRawBufferPointer, at now: UInt64) {
        let header: PieceHeader
        do { header = try PieceHeader(reading: bytes) } catch {
            count(\.badPieces)
            return
        }
        guard life.hasSession, header.session == session else {
            receivedStale(header, at: now)
            return
        }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[PieceHeader.size...])
        guard sending.mayHaveReceived(header.wanted), receiving.mayCome(payload.count, at: header.offset) else {
            count(\.badPieces)
            return
        }
        sending.acknowledged(header, roundTrip: lastRoundTrip, at: now)
        noteOutcome(receiving.received(payload, at: header.offset), count: payload.count, at: now)
        count(\.received)
        heard(at: now)
        if header.flags.contains(.wantsResend) { sending.askedToGoBack(at: now) }
        if header.flags.contains(.asks) { answerDue = header.probe }
        if header.flags.contains(.answers) { answered(header.probe, at: now) }
    }

    private mutating func noteOutcome(_ outcome: ReceivingHalf.Outcome, count bytes: Int, at now: UInt64) {
        switch outcome {
        case .taken: acknowledge(by: now + PipeTimes.acknowledgement)
        case .nothingNew where bytes > 0:
            // The other link doesn't know that they came.
            count(\.duplicates)
            acknowledge(by: now + PipeTimes.acknowledgement)
        case .nothingNew: break
        case .gap(let asks):
            count(\.gaps)
            if asks { resendIsDue = true }
        }
    }

    mutating func acknowledge(by time: UInt64) {
        acknowledgementDueAt = min(acknowledgementDueAt ?? time, time)
    }

    private mutating func receivedStale(_ header: PieceHeader, at now: UInt64) {
        count(\.stale)
        // The proposed session's welcome was lost: it comes again. A session that this link has
        // just ended was called over.
        let isProposed = life == .greeting && header.session == nextSession
        if !life.hasSession, life != .closing, !isProposed { sayUnknown(header.session, at: now) }
    }

    /// Notes a sign of life.
    private mutating func heard(at now: UInt64) {
        heardAt = now
        guard case .stalled = life, carrierIsUp else { return }
        life.take(.heard)
        state = NodeState(word: .up, since: now, why: "")
        // What was under way may be lost.
        sending.goBack(at: now)
        sending.restartWaiting(at: now)
    }

    mutating func stall(_ why: PipeLife.Stall, at now: UInt64) {
        life.take(.stalled(why))
        let text =
            switch why {
            case .silent: "nothing is heard of it"
            case .noResponders: Self.nobody
            case .carrierLost: "this node's link has no connection to NATS"
            }
        state = NodeState(word: .stalled, since: state.word == .stalled ? state.since : now, why: text)
        signDueAt = now
    }
}
