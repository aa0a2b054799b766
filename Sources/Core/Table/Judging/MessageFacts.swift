/// The known facts about one message; nil means unknown. The bus knows it from its tables, and
/// `strata why` from a manifest.
///
/// A property that a kind of message doesn't use keeps its default value.
public protocol MessageFacts {
    var kind: MessageKind { get }
    var policy: AppTable.CallPolicy { get }
    var sender: PeerRole { get }
    /// The ranks of the sender and of the receiver, if they are modules.
    var rank: Int { get }
    var targetRank: Int { get }
    /// Whether the sender and the receiver are the same module.
    var isOwn: Bool { get }
    var existence: Existence? { get }
    /// Whether the header says `auth: skip`, and whether the sender's row is trusted.
    var skipsAuthorization: Bool { get }
    var isTrusted: Bool { get }
    /// Whether the sender's row declares it. Used only if the policy requires that.
    var isDeclared: Bool { get }
    /// Whether it calls an action of `launcher` that the sender may call for the rows that it
    /// manages.
    var isManaging: Bool { get }
    /// Whether an event's name begins with `app.`.
    var isOfTheApp: Bool { get }
    /// Whether the owner's node can be reached; nil if the owner is on the sender's own.
    var reach: Reach? { get }
    var isQuarantined: Bool? { get }
    var presence: Presence? { get }
    /// The step of the sender's start in which it sends the message, and whether the owner starts
    /// after the sender.
    var startStep: StartStep? { get }
    var startsLater: Bool { get }
    var offer: Offer? { get }
    /// Whether the interface has the action.
    var hasAction: Bool? { get }
    var hasInstances: Bool? { get }
    var namesInstance: Bool { get }
    var isSendersInstance: Bool? { get }
    var needsAuthorization: Bool? { get }
    /// Whether it goes to the authorizer itself, and whether the app has one.
    var isAuthorizers: Bool { get }
    var hasAuthorizer: Bool? { get }
}

/// The role of a peer, from its hello.
public enum PeerRole: UInt8, Sendable {
    /// The peer has not said hello.
    case none
    case module, `operator`, launcher
    /// The broker of another app, which opens this app's public URLs.
    case app
    /// The broker of another app that this one has connected to, to open that app's URLs.
    case link
    /// The process that carries bytes to the app's other nodes.
    case nodeLink
    /// The broker of another node, over a connection that `nodeLink`'s process made.
    case node

    /// Whether it may send only some kinds of requests; others may send all that the policy allows.
    @inlinable
    public var isRestricted: Bool { rawValue >= PeerRole.launcher.rawValue }
}

/// Whether the target of a message exists.
public enum Existence: Equatable, Sendable {
    case found
    case nobody
    case malformed
    /// A name that the bus keeps for itself.
    case reserved(String)
    /// A URL that leads nowhere.
    case url(BusURLError.Code)
}

/// Whether a message gets to its owner's node, which is another one than the sender's.
public enum Reach: Sendable {
    /// It goes over the link, or waits until the node joins.
    case connected
    case disconnected
}

/// Whether the owner of the requested interface or module is running.
public enum Presence: Sendable {
    case ready
    /// It will be ready, so a request waits for it.
    case expected
    case absent
}

/// A step of a module's start in which it may make requests.
public enum StartStep: Sendable { case setUp, initialize }

/// Whether the owner has registered the requested interface.
public enum Offer: Sendable {
    case brought
    /// It belongs to another module by now.
    case moved
    /// The owner's row provides it, but the running module doesn't have it.
    case missing
    case nobodys
}

/// A kind of message that is checked, and its checks.
public enum MessageKind: CaseIterable, Sendable {
    case call, open, report, broadcast, event

    /// The checks on such a message, in the order in which the bus makes them.
    public var checks: [Check] {
        switch self {
        case .call: Self.ofCall
        case .open: Self.ofOpen
        case .report: Self.ofReport
        case .broadcast: Self.ofBroadcast
        case .event: Self.ofEvent
        }
    }

    private static let ofCall: [Check] = [
        .existence, .sender, .trust, .level, .declaration, .node, .quarantine, .owner, .start, .waiting, .actions,
        .instance, .requests, .parent, .depth, .authorization, .room,
    ]
    private static let ofOpen: [Check] = [
        .sender, .trust, .existence, .level, .declaration, .node, .quarantine, .owner, .start, .waiting, .requests,
        .parent, .depth, .actions, .instance, .authorization, .room,
    ]
    private static let ofReport: [Check] = [
        .sender, .existence, .level, .declaration, .node, .owner, .start, .waiting, .requests, .parent, .depth, .room,
    ]
    /// The level comes last, since it refuses nothing: it picks the receivers.
    private static let ofBroadcast: [Check] = [.sender, .declaration, .room, .level]
    /// These follow the checks on any call of `bus`.
    private static let ofEvent: [Check] = [.sender, .declaration, .requests]
}
