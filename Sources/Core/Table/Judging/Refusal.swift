/// Why a check refuses a message.
public enum Refusal: Equatable, Sendable {
    /// Its `to` names no action.
    case malformed
    case unknownInterface
    case unknownModule
    /// The URL leads nowhere.
    case url(BusURLError.Code)
    /// `module/…` is called by the broker alone.
    case ofTheBroker
    /// `launcher/…` is for operators.
    case ofOperators
    /// The launcher sends no such thing.
    case launcher
    /// An open said `auth: skip`.
    case skipInOpen
    /// A sender said `auth: skip` whose row isn't trusted.
    case untrusted
    case level
    case undeclared
    /// An event that the sender's row doesn't list.
    case unlistedEvent
    case quarantine
    /// The owner doesn't run, and can't be waited for.
    case absent
    /// Made in a `setUp`, which waits for nobody.
    case waitsInSetUp
    /// Made in an `initialize`, to the module itself.
    case waitsForItself
    /// Made in an `initialize`, to a module that starts after the sender.
    case waitsForLater
    /// Another module has the interface by now.
    case moved
    /// The owner runs without the interface, which its row provides.
    case notBrought
    case unknownAction
    /// An instance of an interface that has one for all.
    case noInstances
    /// No instance of an interface that has many.
    case instanceMissing
    /// The instance isn't the sender's.
    case unknownInstance
    case noAuthorizer

    /// What is against a call to one of the bus's own names; nil for `bus`, and where
    /// the launcher is asked.
    public init?(ofReserved name: String, to sender: PeerRole) {
        switch name {
        case "bus": return nil
        case "launcher" where sender == .operator: return nil
        case "launcher": self = .ofOperators
        case "module": self = .ofTheBroker
        default: self = .unknownInterface
        }
    }

    /// The answer's code.
    public var code: ErrorCode {
        switch self {
        case .malformed, .unknownInterface: .unknownInterface
        case .unknownModule: .unknownModule
        case .url(let code): ErrorCode(code.rawValue)
        case .ofTheBroker, .ofOperators, .launcher, .skipInOpen, .untrusted, .unlistedEvent: .forbidden
        case .level: .levelViolation
        case .undeclared: .undeclared
        case .quarantine, .absent, .waitsInSetUp, .waitsForItself, .waitsForLater, .moved, .notBrought: .unavailable
        case .unknownAction: .unknownAction
        case .noInstances, .instanceMissing, .unknownInstance: .unknownInstance
        case .noAuthorizer: .unauthorized
        }
    }
}

/// What a check says of a message.
public enum Verdict: Equatable, Sendable {
    case passed
    case refused(Refusal)
    /// It isn't made for such a message.
    case free
    /// It can't be said from what is known.
    case depends
}
