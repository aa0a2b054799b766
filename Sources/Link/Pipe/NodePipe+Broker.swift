/// What the own broker does.
extension NodePipe {
    /// The connection that `openBroker` asked for is open, and the broker has accepted it.
    public mutating func brokerOpened(at now: UInt64) {
        life.take(.opened)
        state = NodeState(word: .up, since: now, why: "")
        welcomeIsDue = !settings.saysHello
        signDueAt = now
        if !carrierIsUp { stall(.carrierLost, at: now) }
    }

    /// The broker wrote bytes, at most `room`.
    public mutating func brokerWrote(_ bytes: UnsafeRawBufferPointer) {
        precondition(life == .up, "bytes of the broker were read in state \(life)")
        sending.append(bytes)
    }

    /// The broker's socket took bytes that waited.
    public mutating func brokerTook(_ count: Int, at now: UInt64) {
        precondition(life.isOpen || life == .closing, "the broker took bytes in state \(life)")
        guard count > 0 else { return }
        receiving.brokerTook(count)
        acknowledge(by: receiving.hasUrgentNews ? now : now + PipeTimes.acknowledgement)
    }

    /// The broker's connection is closed: because `closeBroker` asked for it, because the broker
    /// closed it, or because it could not be made.
    /// - Parameter why: what the broker or the system said, if this link didn't ask for it.
    public mutating func brokerClosed(_ why: String, at now: UInt64) {
        let wasAsked = life == .closing
        life.take(.closed)
        nextHelloAt = max(nextHelloAt, now)
        if !wasAsked {
            sessionIsOver(.brokerClosed(why), at: now)
            penalty.add(at: now, lived: now - beganAt)
        }
        if let greeting = awaitedHello {
            awaitedHello = nil
            accept(greeting, at: now)
        }
    }
}
