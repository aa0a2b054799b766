/// What time brings.
extension NodePipe {
    /// `deadline` has come. An earlier or a later call does no harm.
    public mutating func timePassed(at now: UInt64) {
        guard life.hasSession else { return }
        let silence = now - min(heardAt, now)
        if silence >= settings.lost {
            end(.silence(silence), at: now)
            return
        }
        guard life == .up else { return }
        if silence >= settings.stalled {
            stall(.silent, at: now)
            return
        }
        if let stuckAt = sending.stuckAt(after: settings.lost), now >= stuckAt {
            end(.unheard(settings.lost), at: now)
            return
        }
        if let goBackAt = sending.goBackAt(after: resendWait), now >= goBackAt { sending.goBackWithLess(at: now) }
    }

    /// When `timePassed` and `next` are to be called again at the latest; nil for never.
    public var deadline: UInt64? {
        switch life {
        case .idle, .greeting: return helloDueAt
        case .closing: return nil
        case .opening: return heardAt + settings.lost
        case .up, .stalled: break
        }
        var due = heardAt + (life == .up ? settings.stalled : settings.lost)
        if carrierIsUp, carrierHasRoom {
            due = min(due, signDueAt, acknowledgementDueAt ?? due)
        }
        if life == .up {
            if let stuckAt = sending.stuckAt(after: settings.lost) { due = min(due, stuckAt) }
            if let goBackAt = sending.goBackAt(after: resendWait) { due = min(due, goBackAt) }
        }
        return due
    }

    /// This link ends: so do its sessions, and none begins. The driver goes on until `isOver`.
    public mutating func shutDown(at now: UInt64) {
        guard !isShutDown else { return }
        isShutDown = true
        if life.hasSession { end(.shutDown, at: now) }
    }

    /// Whether nothing is left to do after `shutDown`, as far as the carrier is there.
    public var isOver: Bool {
        isShutDown && (life == .idle || life == .greeting) && (byeDue == nil || !carrierIsUp)
    }
}
