/// What the driver does next.
extension NodePipe {
    /// Returns the next action. The driver performs it, and calls again until there is none.
    public mutating func next(at now: UInt64) -> PipeAction? {
        if let loss = closeDue {
            closeDue = nil
            return .closeBroker(loss)
        }
        if openIsDue {
            openIsDue = false
            return .openBroker
        }
        guard carrierIsUp else { return nil }
        if let control = takeControl(at: now) { return .publishControl(control) }
        guard carrierHasRoom, life.isOpen else { return nil }
        return takePiece(at: now)
    }

    private mutating func takeControl(at now: UInt64) -> ControlMessage? {
        if let bye = byeDue {
            byeDue = nil
            return .bye(session: bye.session, code: bye.code)
        }
        if welcomeIsDue {
            welcomeIsDue = false
            return .welcome(greeting(session))
        }
        return takeHello(at: now)
    }

    /// Returns a piece with bytes if there are any, or an empty one if one is due.
    private mutating func takePiece(at now: UInt64) -> PipeAction? {
        var header = PieceHeader(session: session)
        var bytes = 0
        if life == .up, let part = sending.takePart(largestPayload, at: now) {
            header.offset = part.offset
            bytes = part.count
            if part.isResend {
                header.flags.insert(.isResend)
                count(\.resent, bytes)
            }
        } else {
            guard pieceIsDue(at: now) else { return nil }
            header.offset = sending.sent
        }
        // One piece can't both answer and ask.
        if let number = answerDue {
            answerDue = nil
            header.flags.insert(.answers)
            header.probe = number
        } else if now >= signDueAt {
            if mayAsk(at: now) {
                header.flags.insert(.asks)
                header.probe = ask(at: now)
            }
            signDueAt = now + (life == .stalled(.noResponders) ? PipeTimes.signToNobody : PipeTimes.sign)
            sending.shrink()
            receiving.shrink()
        }
        if resendIsDue {
            resendIsDue = false
            header.flags.insert(.wantsResend)
        }
        receiving.tell(&header)
        acknowledgementDueAt = nil
        return .publishPiece(header, count: bytes)
    }

    private func pieceIsDue(at now: UInt64) -> Bool {
        if answerDue != nil || resendIsDue || now >= signDueAt { return true }
        guard let due = acknowledgementDueAt else { return false }
        return now >= due
    }
}
