import StrataCore

/// Connections: taking, reading and ending them.
extension Broker {
    /// How long the last bytes of an ended connection may take, in milliseconds.
    static let lingering: UInt64 = 2_000
    /// So many ended connections may wait for their last bytes to be read, at a time.
    static let mostLingering = 64

    /// Lets what happens to a connection come here.
    func attend(_ peer: Peer) {
        peer.socket.setEventHandler { [unowned self, unowned peer] events in self.handle(events, of: peer) }
    }

    func helloTimePassed(_ peer: Peer) {
        if peer.phase == .waitingForVouch {
            end(
                peer,
                BusError(
                    .forbidden,
                    "nobody vouched for the token of \(peer.awaitedRow?.name ?? peer.displayName) within \(table.hello) ms: start the "
                        + "module through the launcher, or give its row start: manual"),
                id: peer.helloID)
        } else {
            end(
                peer,
                BusError(
                    .notRegistered, "no hello came within \(table.hello) ms: call bus/hello first"))
        }
    }

    private func handle(_ events: Socket.Event, of peer: Peer) {
        eventBegins()
        if events.contains(.writable) {
            peer.isBlocked = false
            peer.isCutShort = false
            flushShare(peer)
            if peer.phase == .closed { return }
            watch(peer)
            resumeIfRoom(peer)
            if peer.phase == .closed { return }
        }
        if events.contains(.hungUp) {
            // A broadcast that only waits for its turn is sent first.
            guard !peer.awaitsIdleWork else { return }
            peer.hasHungUp = true
        }
        guard !events.isDisjoint(with: [.readable, .hungUp]) else { return }
        if peer.phase == .ending {
            // Where it has failed its last bytes will not be taken; else it may have been
            // ended just now, by what it had sent before.
            if peer.socket.hasFailed { close(peer, reason: "") }
            return
        }
        if comesAfterOthers(peer) { awaitTurn(peer) } else { takeTurn(peer) }
    }

    /// Whether others come first: where somebody light is there, because what it asks takes
    /// long, or its end does, or it is new, and many may be that come and go; where nobody
    /// is, because this round has been long already.
    private func comesAfterOthers(_ peer: Peer) -> Bool {
        if shares.isShared(at: time) { return peer.pace.isHeavy || peer.hasHungUp || peer.phase == .greeting }
        return (peer.pace.isHeavy || peer.hasHungUp)
            && (!awaitingTurn.isEmpty || readOfHeavy >= TurnShares.mostRead)
    }

    private func awaitTurn(_ peer: Peer) {
        if peer.turn == .none {
            peer.turn = .awaited
            awaitingTurn.append(peer)
        } else {
            // Else the loop would say so in each round until then, of each who waits.
            peer.turn = .awaitedUnwatched
            watch(peer)
        }
    }

    /// Gives a turn to the one that has waited for it the longest; to as many as one round
    /// may have, where nobody light is there.
    func giveTurns() {
        let isShared = shares.isShared(at: time)
        var (index, hasTurn) = (0, false)
        while index < awaitingTurn.count, !hasTurn || !isShared && readOfHeavy < TurnShares.mostRead {
            // One that has closed takes no turn: where connections come and go the list would grow.
            if awaitingTurn[index].phase != .closed {
                giveTurn(awaitingTurn[index])
                hasTurn = true
            }
            index += 1
        }
        awaitingTurn.removeFirst(index)
        if !awaitingTurn.isEmpty { pieces.start() }
    }

    private func giveTurn(_ peer: Peer) {
        let wasWatched = peer.turn == .awaited
        peer.turn = .none
        peer.hasMore = false
        eventBegins()
        takeTurn(peer)
        // Where it has frames left it waits again.
        guard !wasWatched, peer.turn == .none else { return }
        if peer.hasMore, !peer.isPaused {
            peer.turn = .awaitedUnwatched
            awaitingTurn.append(peer)
        } else {
            watch(peer)
        }
    }

    private func takeTurn(_ peer: Peer) {
        if !peer.isPaused {
            read(peer)
        } else if peer.hasHungUp, !peer.awaitsIdleWork {
            // It isn't read for now, so its end is seen here.
            close(peer, reason: "closed")
        }
    }

    /// Frees closed peers, and with each what it had queued: one in a round while others
    /// wait for their turns.
    func dropGone() {
        gone.removeLast(shares.isShared(at: time) ? 1 : gone.count)
        if !gone.isEmpty { pieces.start() }
    }

    /// Says to the loop what this peer waits for.
    func watch(_ peer: Peer) {
        var events: Socket.Event = []
        switch peer.phase {
        case .closed: return
        case .ending: break
        case .greeting, .waitingForVouch, .open:
            if peer.turn != .awaitedUnwatched { events = peer.isPaused ? .hungUp : .readable }
        }
        if peer.isBlocked || peer.isCutShort, !peer.socket.hasFailed { events.insert(.writable) }
        // It has its last turns at the ends of rounds.
        if peer.isBroken { events = [] }
        peer.socket.watch(events)
    }

    /// - Returns: how many bytes were there.
    @discardableResult
    func read(_ peer: Peer) -> Int {
        guard !peer.isPaused, peer.phase != .ending, peer.phase != .closed else { return 0 }
        if peer.hasFramesLeft { return handleRest(of: peer) }
        let isShared = shares.isShared(at: time)
        let space = peer.assembler.space(in: buffer, most: isShared ? peer.pace.room : ReadBuffer.turn)
        switch peer.socket.read(into: space) {
        case .moved(let count):
            peer.assembler.received(count)
            peer.hasMore = count == space.count
            if peer.pace.isHeavy { readOfHeavy &+= count }
            if let space = peer.assembler.spaceForRest(), case .moved(let count) = peer.socket.read(into: space) {
                peer.assembler.received(count)
            }
            let frames = process(peer)
            if peer.isMonitoring {
                shares.endedMonitors(&peer.pace, start: time)
            } else {
                shares.ended(
                    &peer.pace, start: time, frames: frames, bytes: count,
                    isSpent: peer.hasFramesLeft
                ) { Loop.nanoseconds }
            }
            return count
        case .wouldBlock:
            peer.assembler.keepRest()
        case .ended, .failed:
            if peer.phase == .open, !peer.hasHungUp, areEndsSpent {
                peer.hasHungUp = true
                awaitTurn(peer)
            } else {
                close(peer, reason: "closed")
            }
        }
        return 0
    }

    /// Whether this round has had as many ends of sessions as it may: many may end at once.
    private var areEndsSpent: Bool { readOfHeavy >= (shares.isShared(at: time) ? 1 : TurnShares.mostRead) }

    /// Handles the frames of a turn, as far as the peer may be read.
    /// - Returns: how many there were.
    @discardableResult
    func process(_ peer: Peer) -> Int {
        var header = Header()
        var frames = 0
        isTurnSpent = false
        reading = .passUnretained(peer)
        defer { reading = nil }
        do {
            while !peer.isPaused, !isTurnSpent, peer.phase == .greeting || peer.phase == .open,
                let frame = try peer.assembler.next()
            {
                peer.assemblyDeadline = 0
                frames &+= 1
                try scanner.scan(frame.header, into: &header)
                if peer.phase == .open {
                    if isMonitored { handleMonitored(header, frame, of: peer) } else { handle(header, frame, of: peer) }
                } else {
                    greet(header, frame.body, of: peer)
                    // It is judged anew when the launcher has vouched, from the same bytes.
                    if peer.phase == .waitingForVouch { peer.assembler.putBack(frame) }
                }
            }
        } catch let error as FrameError {
            statistics.badFrames += 1
            end(peer, refusal(of: error, peer.phase))
        } catch let error as HeaderError {
            statistics.badFrames += 1
            end(peer, BusError(.badHeader, error.message))
        } catch {
            preconditionFailure("frames fail with FrameError or HeaderError, not with \(error)")
        }
        switch peer.phase {
        case .greeting, .waitingForVouch, .open:
            peer.assembler.keepRest(forLong: peer.phase == .waitingForVouch)
            if isTurnSpent, !peer.isPaused, !peer.assembler.isEmpty { awaitRest(peer) } else { timeAssembly(peer) }
        case .ending, .closed:
            peer.assembler.drop()
        }
        return frames
    }

    /// Stops reading until `resume`; frames that were read already are kept.
    func pause(_ peer: Peer) {
        guard !peer.isPaused else { return }
        peer.isPaused = true
        if peer.assemblyDeadline != 0 {
            peer.assemblyLeft = peer.assemblyDeadline - min(peer.assemblyDeadline, now)
            peer.assemblyDeadline = 0
        }
        watch(peer)
    }

    /// Goes on with a peer: first with what was read before.
    func resume(_ peer: Peer) {
        guard peer.isPaused else { return }
        peer.isPaused = false
        if !peer.assembler.isEmpty {
            peer.assembler.resume()
            process(peer)
        }
        watch(peer)
    }

    /// A peer that was stopped for its unread answers goes on when they are
    /// within the limit again.
    func resumeIfRoom(_ peer: Peer) {
        guard peer.phase == .open else { return }
        if peer.isPaused, !peer.awaitsIdleWork, peer.outbox.pendingAnswers <= mostQueued { resume(peer) }
        if peer.phase == .open, peer.owesCredit { sendOwedCredit(peer) }
        if !watches.isEmpty { feedWatches() }
    }

    // MARK: Ending

    /// Ends a connection with an error as its last frame. The session ends at
    /// once; what was queued and not begun is dropped.
    /// - Parameter dropsQueued: false where all that is queued still goes out.
    func end(_ peer: Peer, _ error: BusError, id: UInt64 = 0, dropsQueued: Bool = true) {
        guard peer.phase != .ending, peer.phase != .closed else { return }
        let phase = peer.phase
        move(peer, to: .ending)
        endSession(peer, was: phase, reason: error.code.rawValue)
        guard peer.phase == .ending else { return }
        if dropsQueued { peer.outbox.removeNotBegun() }
        writeError(peer, id: id, error)
        flush(peer)
        guard peer.phase == .ending else { return }
        watch(peer)
        cancelAlarms(of: peer)
        setAlarm(.lingering, of: peer, after: Self.lingering)
        if stage == .running, pools.lingering.count > Self.mostLingering { closeLingering() }
    }

    /// Closes a connection now.
    func close(_ peer: Peer, reason: String) {
        guard peer.phase != .closed else { return }
        let phase = peer.phase
        move(peer, to: .closed)
        peer.socket.close()
        cancelAlarms(of: peer)
        if phase != .ending { endSession(peer, was: phase, reason: reason) }
        if phase == .open { readOfHeavy &+= TurnShares.endCost }
        gone.append(peer)
        peers[peer.number] = nil
        if stage == .goodbye, peers.isEmpty { finish() }
    }

    // MARK: The time that a frame may take

    private func timeAssembly(_ peer: Peer) {
        guard !peer.assembler.isEmpty, !peer.isPaused, peer.phase == .greeting || peer.phase == .open else {
            return
        }
        guard peer.assemblyDeadline == 0 else { return }
        peer.assemblyDeadline = now + (peer.assemblyLeft > 0 ? peer.assemblyLeft : table.assembly)
        peer.assemblyLeft = 0
        guard !peer.isAssemblyTimed else { return }
        peer.isAssemblyTimed = true
        setAlarm(.assembly, of: peer, at: peer.assemblyDeadline)
    }

    /// The alarm stays set where a frame is complete: it may be for a later frame now.
    func assemblyTimePassed(_ peer: Peer) {
        peer.isAssemblyTimed = false
        guard peer.phase == .greeting || peer.phase == .open, peer.assemblyDeadline != 0 else { return }
        guard peer.assemblyDeadline <= now else {
            peer.isAssemblyTimed = true
            setAlarm(.assembly, of: peer, at: peer.assemblyDeadline)
            return
        }
        statistics.badFrames += 1
        end(
            peer,
            BusError(
                .badFrame, "a frame was not complete \(table.assembly) ms after its first byte: send it whole"))
    }
}
