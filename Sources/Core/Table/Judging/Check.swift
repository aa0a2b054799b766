/// What can be against a message, one question each. The bus asks them in the order of
/// the message's kind (`MessageKind.checks`) and answers with the first that refuses;
/// `strata why` asks all of them.
///
/// What a check decides is `MessageFacts.verdict`. Four of them the judge leaves to the
/// bus, which asks them where it takes the place that they are about: `waiting`,
/// `requests`, `parent` and `room`.
public enum Check: Comparable, CaseIterable, Sendable {
    /// Does anybody have what it goes to?
    case existence
    /// May a peer of this role send it?
    case sender
    /// May it say `auth: skip`?
    case trust
    /// Does the level table lead there?
    case level
    /// Does the sender's row have it?
    case declaration
    /// Has its owner not died of the action too often?
    case quarantine
    /// Does its owner run, or can it be waited for?
    case owner
    /// Would a start not wait for itself?
    case start
    /// Has the owner's queue room for one more that waits until it is ready?
    case waiting
    /// Does the owner have the action?
    case actions
    /// Is the instance the sender's?
    case instance
    /// Has the sender a request left?
    case requests
    /// Is the call that it is made for open?
    case parent
    /// Does the authorizer have to allow it, and is there one?
    case authorization
    /// Is there room in the receiver's queue?
    case room

    /// What people and programs read.
    public var name: String {
        switch self {
        case .existence: "existence"
        case .sender: "sender"
        case .trust: "trust"
        case .level: "level"
        case .declaration: "declaration"
        case .quarantine: "quarantine"
        case .owner: "owner"
        case .start: "start"
        case .waiting: "waiting"
        case .actions: "actions"
        case .instance: "instance"
        case .requests: "requests"
        case .parent: "parent"
        case .authorization: "authorization"
        case .room: "room"
        }
    }

    /// Whether the manifest and the modules decide it. The moment decides the rest: what
    /// the sender says in this one message, what has died, how much waits.
    public var isForeseeable: Bool {
        switch self {
        case .existence, .level, .declaration, .owner, .actions, .instance, .authorization: true
        case .sender, .trust, .quarantine, .start, .waiting, .requests, .parent, .room: false
        }
    }
}

/// The rules that the level table makes, as ranks: the foundation's is 0.
public enum LevelRule {
    /// A broadcast goes down the table: to later levels only.
    @inlinable
    public static func broadcastReaches(from sender: Int, to observer: Int) -> Bool { observer > sender }

    /// A report goes up the table: to its own level or an earlier one.
    @inlinable
    public static func reportMayGo(from sender: Int, to target: Int) -> Bool { target <= sender }

    /// Under `calls: layered`, a module calls its own level or an earlier one.
    @inlinable
    public static func callMayGo(from caller: Int, to owner: Int) -> Bool { owner <= caller }
}
