/// A reason to refuse a message, as one question each. The bus asks them in the order of the
/// message's kind (`MessageKind.checks`) and answers with the first refusal; `strata why` asks all
/// of them.
///
/// `MessageFacts.verdict` decides a check. It leaves `waiting`, `requests`, `parent`, `depth` and
/// `room` to the bus, which decides them when it takes up the slot or the space in question.
public enum Check: Comparable, CaseIterable, Sendable {
    /// Does what it is sent to exist?
    case existence
    /// May a peer of this role send it?
    case sender
    /// May the sender say `auth: skip`?
    case trust
    /// Does the level table allow this direction?
    case level
    /// Does the sender's row declare it?
    case declaration
    /// If its owner is on another node, is that node connected?
    case node
    /// Is the action free of quarantine? An action of which its owner died too often is
    /// quarantined.
    case quarantine
    /// Is its owner running, or can the message wait for it?
    case owner
    /// Can the sender's start wait for it, without waiting for itself?
    case start
    /// Is there room among the requests that wait until the owner is ready?
    case waiting
    /// Does the owner have the action?
    case actions
    /// Does the instance belong to the sender?
    case instance
    /// May the sender have another open request?
    case requests
    /// Is the call on whose behalf it is made still open?
    case parent
    /// Is the chain of calls that it belongs to short enough?
    case depth
    /// If the authorizer has to allow it, is there one?
    case authorization
    /// Is there room in the receiver's queue?
    case room

    /// The check's name for people and programs to read.
    public var name: String {
        switch self {
        case .existence: "existence"
        case .sender: "sender"
        case .trust: "trust"
        case .level: "level"
        case .declaration: "declaration"
        case .node: "node"
        case .quarantine: "quarantine"
        case .owner: "owner"
        case .start: "start"
        case .waiting: "waiting"
        case .actions: "actions"
        case .instance: "instance"
        case .requests: "requests"
        case .parent: "parent"
        case .depth: "depth"
        case .authorization: "authorization"
        case .room: "room"
        }
    }

    /// Whether the manifest and the modules alone decide it. The other checks depend on the moment:
    /// on this one message's header, on what has died, on how much is waiting.
    public var isForeseeable: Bool {
        switch self {
        case .existence, .level, .declaration, .node, .owner, .actions, .instance, .authorization: true
        case .sender, .trust, .quarantine, .start, .waiting, .requests, .parent, .depth, .room: false
        }
    }
}

/// The rules of the level table, in ranks; the foundation has rank 0.
public enum LevelRule {
    /// A broadcast goes down the table, to later levels only.
    @inlinable
    public static func broadcastReaches(from sender: Int, to observer: Int) -> Bool { observer > sender }

    /// A report goes up the table, to its own level or an earlier one.
    @inlinable
    public static func reportMayGo(from sender: Int, to target: Int) -> Bool { target <= sender }

    /// Under `calls: layered`, a module calls its own level or an earlier one.
    @inlinable
    public static func callMayGo(from caller: Int, to owner: Int) -> Bool { owner <= caller }
}
