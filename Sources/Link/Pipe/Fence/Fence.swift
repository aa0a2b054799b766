/// The test of a server before it is trusted, and of this node's name before it is used.
///
/// At each connection the link publishes two messages to itself: a probe in another node's name, then a claim in its
/// own. Where the probe comes, the server guards nothing. Where the claim comes alone, the names are guarded, since
/// a server passes on one client's messages in their order.
///
/// Everybody who has the node's name hears its claims. Who already holds the name answers at once with a claim, and
/// the newcomer gives up. Of two that both hold it, as after a cut between two servers, the one with the higher number
/// gives up.
///
/// A state machine without I/O: events go in, and `next` says what to do.
public struct Fence {
    private let link: UInt64
    private let isNeeded: Bool
    private(set) var life = FenceLife.away
    /// Whether this process has used the name.
    private var isHeld = false
    /// The number of this connection's probe and claims.
    private var nonce: UInt64 = 0
    /// Whether the next claim's probe is published.
    private var probeIsOut = false
    private var claimDueAt: UInt64 = .max
    private var openIsDue = false
    private var refusalDue: FenceAction.Refusal?

    /// How long another holder of the name has to answer a new process, in nanoseconds.
    static let patience = 250 * PipeTimes.millisecond
    /// Between two claims until the first comes back, and later, when only a link behind a mended cut may hear it.
    static let retry = PipeTimes.second
    static let renewal = 10 * PipeTimes.second

    /// - Parameters:
    ///   - link: the number of this process.
    ///   - isNeeded: whether a server that doesn't guard the names is refused.
    public init(link: UInt64, isNeeded: Bool) {
        self.link = link
        self.isNeeded = isNeeded
    }

    /// Whether the carrier may be used.
    public var isOpen: Bool { life == .open }

    // MARK: - Events

    /// The carrier is connected.
    /// - Parameter nonce: a random number.
    public mutating func carrierConnected(nonce: UInt64, at now: UInt64) {
        life.take(.connected)
        self.nonce = nonce
        probeIsOut = false
        claimDueAt = now
    }

    public mutating func carrierDisconnected() {
        life.take(.disconnected)
        openIsDue = false
        claimDueAt = .max
    }

    /// A control message came: in this node's own name, or, before the fence is open, in another's.
    public mutating func received(_ message: ControlMessage, inOwnName: Bool, at now: UInt64) {
        switch (life, message) {
        case (.trying, .probe(let number)), (.waiting, .probe(let number)):
            if !inOwnName, number == nonce, isNeeded { refuse(.unguarded) }
        case (.trying, .claim(link, nonce, _)) where inOwnName:
            life.take(.echoed(waitUntil: isHeld ? now : now + Self.patience))
            claimDueAt = now + Self.renewal
            if isHeld { admit() }
        case (.trying, .claim(let other, _, let theyHold)), (.waiting, .claim(let other, _, let theyHold)),
            (.open, .claim(let other, _, let theyHold)):
            guard inOwnName, other != link else { return }
            let givesUp = theyHold == isHeld ? link > other : theyHold
            if givesUp { refuse(.nameTaken) } else { claimDueAt = now }
        case (.away, _), (.refused, _), (_, .hello), (_, .welcome), (_, .bye), (.open, .probe): break
        }
    }

    /// `deadline` has come.
    public mutating func timePassed(at now: UInt64) {
        if case .waiting(let until) = life, now >= until { admit() }
    }

    /// When `timePassed` and `next` are to be called again; nil for never.
    public var deadline: UInt64? {
        switch life {
        case .away, .refused: nil
        case .waiting(let until): min(until, claimDueAt)
        case .trying, .open: claimDueAt
        }
    }

    // MARK: - What to do

    /// Returns the next action. The link performs it, and calls again until there is none.
    public mutating func next(at now: UInt64) -> FenceAction? {
        if let refusal = refusalDue {
            refusalDue = nil
            return .refuse(refusal)
        }
        if openIsDue {
            openIsDue = false
            return .open
        }
        guard life != .away, life != .refused else { return nil }
        guard now >= claimDueAt else { return nil }
        // A lost claim is repeated, and the probe that may be lost with it.
        if life == .trying, isNeeded, !probeIsOut {
            probeIsOut = true
            return .publishProbe(.probe(nonce))
        }
        probeIsOut = false
        claimDueAt = now + (life == .trying ? Self.retry : Self.renewal)
        return .publishClaim(.claim(link: link, nonce: nonce, isHeld: isHeld))
    }

    private mutating func admit() {
        life.take(.admitted)
        isHeld = true
        openIsDue = true
    }

    private mutating func refuse(_ refusal: FenceAction.Refusal) {
        life.take(.refused)
        openIsDue = false
        refusalDue = refusal
    }
}
