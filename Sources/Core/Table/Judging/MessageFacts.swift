/// What is known of one message. The bus knows it from its tables, whoever explains its
/// answer from a manifest; nil is what isn't known.
///
/// What a kind of message doesn't have is left out.
public protocol MessageFacts {
    var kind: MessageKind { get }
    var policy: AppTable.CallPolicy { get }
    var sender: PeerRole { get }
    /// The sender's rank, and that of who gets it: a module's.
    var rank: Int { get }
    var targetRank: Int { get }
    /// Whether the sender sends it to itself.
    var isOwn: Bool { get }
    var existence: Existence? { get }
    /// Whether the header says `auth: skip`, and whether the sender's row is trusted.
    var skipsAuthorization: Bool { get }
    var isTrusted: Bool { get }
    /// Whether the sender's row has it. Asked only where that counts.
    var isDeclared: Bool { get }
    /// Whether an event's name begins with `app.`.
    var isOfTheApp: Bool { get }
    var isQuarantined: Bool? { get }
    var presence: Presence? { get }
    /// The step of the sender's own start that it is made for, and whether its owner
    /// starts after the sender.
    var startStep: StartStep? { get }
    var startsLater: Bool { get }
    var offer: Offer? { get }
    /// Whether the interface takes the action.
    var hasAction: Bool? { get }
    var hasInstances: Bool? { get }
    var namesInstance: Bool { get }
    var isSendersInstance: Bool? { get }
    var needsAuthorization: Bool? { get }
    /// Whether it goes to the authorizer itself, and whether the app has one.
    var isAuthorizers: Bool { get }
    var hasAuthorizer: Bool? { get }
}

/// What a peer is: its hello says so.
public enum PeerRole: UInt8, Sendable {
    /// It has not said hello.
    case none
    case module, `operator`, launcher
}

/// Whether there is what a message goes to.
public enum Existence: Equatable, Sendable {
    case found
    case nobody
    case malformed
    /// One of the bus's own names.
    case reserved(String)
    /// A URL that leads nowhere.
    case url(BusURLError.Code)
}

/// Whether the owner of what is asked for is there.
public enum Presence: Sendable {
    case ready
    /// It will be: a request waits for it.
    case expected
    case absent
}

/// A step of a module's start in which it may ask for something.
public enum StartStep: Sendable { case setUp, initialize }

/// Whether the owner has brought the interface that is asked for.
public enum Offer: Sendable {
    case brought
    /// It is another module's by now.
    case moved
    /// The row says that it is there, and the module doesn't have it.
    case missing
    case nobodys
}

/// A kind of message that is judged, and by what.
public enum MessageKind: CaseIterable, Sendable {
    case call, open, report, broadcast, event

    /// What can be against one, in the order in which the bus asks.
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
        .existence, .sender, .trust, .level, .declaration, .quarantine, .owner, .start, .waiting, .actions, .instance,
        .requests, .parent, .authorization, .room,
    ]
    private static let ofOpen: [Check] = [
        .sender, .trust, .existence, .level, .declaration, .quarantine, .owner, .start, .waiting, .requests, .parent,
        .actions, .instance, .authorization, .room,
    ]
    private static let ofReport: [Check] = [
        .sender, .existence, .level, .declaration, .owner, .start, .waiting, .requests, .parent, .room,
    ]
    /// The level comes last, since it refuses nothing: it chooses who gets it.
    private static let ofBroadcast: [Check] = [.sender, .declaration, .room, .level]
    /// After the checks on any call of `bus`.
    private static let ofEvent: [Check] = [.sender, .declaration, .requests]
}
