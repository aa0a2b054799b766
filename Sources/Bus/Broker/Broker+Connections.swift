import StrataCore
import StrataLoop

/// Connections: reading them, giving them turns, and ending them.
extension Broker {
    /// Whether a light peer is connected.
    var isShared: Bool { shares.isShared(at: bus.time) }

    /// How long the last bytes of an ended connection may take, in milliseconds.
    static let lingering: UInt64 = 2_000
    /// The most ended connections that may wait for their last bytes to be read.
    static let mostLingering = 64

    /// Handles a connection's events from now on.
    func attend(_ connection: Connection) {
        connection.socket.setEventHandler { [unowned self, unowned connection] events in
            eventBegins()
            handle(events, of: connection)
            settle()
        }
    }

    private func handle(_ events: Socket.Event, of connection: Connection) {
        if events.contains(.writable) {
            hasRoomAgain(connection)
            settle()
            if connection.life == .closed { return }
        }
        if events.contains(.hungUp) {
            // A broadcast that only waits for idle work is sent first.
            guard !connection.awaitsIdleWork else { return }
            connection.hasHungUp = true
        }
        guard !events.isDisjoint(with: [.readable, .hungUp]) else { return }
        if connection.life == .ending {
            // If it has failed, its last bytes can't be delivered. Otherwise it may have been ended
            // just now, by what it had sent before.
            if connection.socket.hasFailed { close(connection, reason: "") }
            return
        }
        if comesAfterOthers(connection) { awaitTurn(connection) } else { takeTurn(connection) }
    }

    /// Whether other peers have their turns first. While a light peer is connected, this holds for
    /// heavy, ending and new peers: new ones may come and go in large numbers. Otherwise it holds
    /// for heavy and ending peers when this round has already been long.
    private func comesAfterOthers(_ connection: Connection) -> Bool {
        let isHeavy = connection.pace.isHeavy || connection.hasHungUp
        if isShared { return isHeavy || connection.life == .greeting }
        return isHeavy && (!awaitingTurn.isEmpty || readOfHeavy >= TurnShares.mostRead)
    }

    private func awaitTurn(_ connection: Connection) {
        if connection.turn == .none {
            connection.turn = .awaited
            awaitingTurn.append(connection)
        } else {
            // If it were watched, it would wake the loop in each round until its turn.
            connection.turn = .awaitedUnwatched
            watch(connection)
        }
    }

    /// Gives a turn to the peer that has waited the longest. While no light peer is connected, it
    /// gives as many turns as one round may have.
    func giveTurns() {
        let isShared = isShared
        var (index, hasTurn) = (0, false)
        while index < awaitingTurn.count, !hasTurn || !isShared && readOfHeavy < TurnShares.mostRead {
            // A closed connection takes no turn, or the list would grow while connections come and
            // go.
            if awaitingTurn[index].life != .closed {
                giveTurn(awaitingTurn[index])
                hasTurn = true
            }
            index += 1
        }
        awaitingTurn.removeFirst(index)
        if !awaitingTurn.isEmpty { idleWork.start() }
    }

    private func giveTurn(_ connection: Connection) {
        let wasWatched = connection.turn == .awaited
        connection.turn = .none
        connection.hasMore = false
        eventBegins()
        takeTurn(connection)
        settle()
        // If it has frames left, it is waiting again.
        guard !wasWatched, connection.turn == .none else { return }
        if connection.hasMore, !connection.isPaused {
            connection.turn = .awaitedUnwatched
            awaitingTurn.append(connection)
        } else {
            watch(connection)
        }
    }

    private func takeTurn(_ connection: Connection) {
        if !connection.isPaused {
            read(connection)
        } else if connection.hasHungUp, !connection.awaitsIdleWork {
            // It isn't read for now, so its end is noticed here.
            close(connection, reason: "closed")
        }
    }

    /// Frees closed peers and what they had queued. While a light peer is connected, it frees one
    /// in each round.
    func freeClosed() {
        guard !bus.connections.closed.isEmpty, bus.work.fanOut == nil else { return }
        bus.freeClosed(isShared ? 1 : .max)
        if !bus.connections.closed.isEmpty { idleWork.start() }
    }

    /// Tells the loop which events this connection waits for.
    func watch(_ connection: Connection) {
        var events: Socket.Event = []
        switch connection.life {
        case .closed: return
        case .ending: break
        case .greeting, .waitingForVouch, .open:
            if connection.turn != .awaitedUnwatched { events = connection.isPaused ? .hungUp : .readable }
        }
        let isToWrite = connection.isBlocked && !connection.awaitsOtherReaders || connection.isCutShort
        if isToWrite, !connection.socket.hasFailed { events.insert(.writable) }
        // A broken connection has its last turns at the ends of rounds.
        if connection.isBroken { events = [] }
        connection.socket.watch(events)
    }

    /// - Returns: the number of bytes that were read.
    @discardableResult
    func read(_ connection: Connection) -> Int {
        guard connection.life.isRead else { return 0 }
        if connection.hasFramesLeft { return handleRest(of: connection) }
        let isShared = isShared
        let space = connection.assembler.space(in: buffer, most: isShared ? connection.pace.room : ReadBuffer.turn)
        switch read(connection, into: space) {
        case .moved(let count):
            connection.assembler.received(count)
            // A full read has probably left something in the socket.
            connection.hasMore = count == space.count
            if connection.pace.isHeavy { readOfHeavy &+= count }
            // A frame whose body fills a turn is longer by its header; that rest is read at once.
            if let space = connection.assembler.spaceForRest(),
                case .moved(let count) = read(connection, into: space)
            {
                connection.assembler.received(count)
            }
            let frames = process(connection)
            if connection.isMonitoring {
                shares.endedMonitors(&connection.pace, start: bus.time)
            } else {
                shares.ended(
                    &connection.pace, start: bus.time, frames: frames, bytes: count, isSpent: connection.hasFramesLeft
                ) { Loop.nanoseconds }
            }
            return count
        case .wouldBlock:
            connection.assembler.keepRest()
        case .ended, .failed:
            if connection.isOpen, !connection.hasHungUp, areEndsSpent {
                connection.hasHungUp = true
                awaitTurn(connection)
            } else {
                close(connection, reason: "closed")
            }
        }
        return 0
    }

    /// Reads bytes, and descriptors if the peer said that it sends some: the kernel closes those of others.
    @inline(__always)
    private func read(_ connection: Connection, into space: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
        guard let descriptors = connection.descriptors else { return connection.socket.read(into: space) }
        return connection.socket.read(into: space) {
            descriptors.receive($0, isWhole: $1, mostOfAll: bus.mostDescriptors)
        }
    }

    /// Whether this round has had as many ends of sessions as it may, because many may end at once.
    private var areEndsSpent: Bool { readOfHeavy >= (isShared ? 1 : TurnShares.mostRead) }

    /// Handles the frames of a turn, as long as the peer may be read.
    /// - Returns: the number of frames.
    @discardableResult
    func process(_ connection: Connection) -> Int {
        var frames = 0
        isTurnSpent = false
        do {
            while let interruption = try bus.handleFrames(of: connection, in: &connection.assembler, &frames) {
                switch interruption {
                case .lent: bus.takeBackLent(from: &connection.assembler)
                case .slow: isTurnSpent = shares.isSpent(start: bus.time, now: Loop.nanoseconds)
                }
                if isTurnSpent { break }
            }
        } catch {
            bus.refuse(connection, error)
        }
        if frames > 0 { connection.assemblyDeadline = 0 }
        switch connection.life {
        case .greeting, .waitingForVouch, .open:
            connection.assembler.keepRest(forLong: connection.life == .waitingForVouch)
            if connection.isPaused {
                watch(connection)
            } else if isTurnSpent, !connection.assembler.isEmpty {
                awaitRest(connection)
            } else {
                timeAssembly(connection)
                if connection.descriptors != nil {
                    bus.refuseLooseDescriptors(of: connection, most: connection.assembler.isEmpty ? 0 : 1)
                }
            }
        case .ending, .closed:
            connection.assembler.drop()
            connection.descriptors?.end()
        }
        return frames
    }

    /// Reads a connection again, beginning with what was read before.
    private func readOn(_ connection: Connection) {
        guard connection.life.isRead else { return }
        if !connection.assembler.isEmpty {
            connection.assembler.resume()
            process(connection)
        }
        watch(connection)
    }

    // MARK: What the bus asks for

    /// Carries out the effects that the bus has asked for.
    func settle() {
        guard !bus.event.effects.isEmpty else { return }
        var index = 0
        // Reading on may add further effects.
        while index < bus.event.effects.count {
            switch bus.event.effects[index] {
            case .readOn(let peer): readOn(peer.connection)
            case .writeLast(let peer): writeLast(to: peer.connection)
            case .hearOut(let peer): hearOut(peer.connection)
            case .close(let peer): close(peer.connection, reason: "")
            case .lookAtFrame(let peer): assemblyTimePassed(peer.connection)
            case .writeOn(let peer): writeOn(peer.connection)
            case .replaceProgram: tryNext()
            case .stopListening: stopListening()
            case .finish: finish()
            }
            index += 1
        }
        bus.settled()
    }

    /// Writes the last bytes of an ended connection, then closes it.
    private func writeLast(to connection: Connection) {
        flush(connection)
        guard connection.life == .ending else { return }
        watch(connection)
        bus.setAlarm(.lingering, of: connection, after: Self.lingering)
        bus.boundLingering(Self.mostLingering)
    }

    /// Makes a connection be heard out, then closed or ended.
    private func hearOut(_ connection: Connection) {
        guard !connection.isBroken else { return }
        heardOut.append(connection)
        idleWork.start()
    }

    // MARK: Ending

    /// Closes a connection now.
    func close(_ connection: Connection, reason: String) {
        guard connection.life != .closed else { return }
        if connection.descriptors == nil {
            connection.socket.close()
        } else {
            connection.socket.close(by: closer, of: connection.credentials.uid)
        }
        // Ending a session takes time that counts in this round.
        if connection.isOpen { readOfHeavy &+= TurnShares.endCost }
        bus.closed(connection, reason: reason)
    }

    // MARK: The time that a frame may take

    private func timeAssembly(_ connection: Connection) {
        guard !connection.assembler.isEmpty, connection.assemblyDeadline == 0,
            connection.life == .greeting || connection.isOpen
        else { return }
        connection.assemblyDeadline = bus.now + bus.table.assembly
        guard !connection.isAssemblyTimed else { return }
        connection.isAssemblyTimed = true
        bus.setAlarm(.assembly, of: connection, at: connection.assemblyDeadline)
    }

    /// Checks the frame that a connection has begun. The alarm stays set when a frame is complete,
    /// so it may now be about a later frame.
    func assemblyTimePassed(_ connection: Connection) {
        connection.isAssemblyTimed = false
        guard connection.life == .greeting || connection.isOpen, connection.assemblyDeadline != 0 else {
            return
        }
        guard connection.assemblyDeadline <= bus.now else {
            connection.isAssemblyTimed = true
            bus.setAlarm(.assembly, of: connection, at: connection.assemblyDeadline)
            return
        }
        bus.frameTookTooLong(connection)
    }
}
