/// The reason why a check refuses a message.
public enum Refusal: Equatable, Sendable {
    /// Its `to` doesn't name an action.
    case malformed
    case unknownInterface
    case unknownModule
    /// The URL leads nowhere.
    case url(BusURLError.Code)
    /// Only the broker calls `module/…`.
    case ofTheBroker
    /// Only operators call `launcher/…`.
    case ofOperators
    /// The launcher may not send such a message.
    case launcher
    /// Another app may only open public URLs.
    case otherApp
    /// The link to other nodes may call only `bus`.
    case nodeLink
    /// An open said `auth: skip`, which only calls may.
    case skipInOpen
    /// The sender said `auth: skip`, but its row isn't trusted.
    case untrusted
    case level
    case undeclared
    /// An event that the sender's row doesn't list.
    case unlistedEvent
    /// The owner's node isn't connected.
    case unreachable
    case quarantine
    /// The owner isn't running, and a request can't wait for it.
    case absent
    /// The request was made in a `setUp`, which waits for no module.
    case waitsInSetUp
    /// The request was made in an `initialize`, to the module itself.
    case waitsForItself
    /// The request was made in an `initialize`, to a module that starts after the sender.
    case waitsForLater
    /// The interface belongs to another module by now.
    case moved
    /// The owner runs without the interface, although its row provides it.
    case notBrought
    case unknownAction
    /// The request names an instance, but the interface has only one for all.
    case noInstances
    /// The request names no instance, but the interface has many.
    case instanceMissing
    /// The instance doesn't belong to the sender.
    case unknownInstance
    case noAuthorizer

    /// The refusal of a call to one of the bus's own names; nil for `bus`, and for an operator that
    /// calls `launcher`.
    public init?(ofReserved name: String, to sender: PeerRole) {
        switch name {
        case "bus": return nil
        case "launcher" where sender == .operator: return nil
        case "launcher": self = .ofOperators
        case "module": self = .ofTheBroker
        default: self = .unknownInterface
        }
    }

    /// The error code of the answer.
    public var code: ErrorCode {
        switch self {
        case .malformed, .unknownInterface: .unknownInterface
        case .unknownModule: .unknownModule
        case .url(let code): ErrorCode(code.rawValue)
        case .ofTheBroker, .ofOperators, .launcher, .otherApp, .nodeLink, .skipInOpen, .untrusted, .unlistedEvent:
            .forbidden
        case .level: .levelViolation
        case .undeclared: .undeclared
        case .unreachable, .quarantine, .absent, .waitsInSetUp, .waitsForItself, .waitsForLater, .moved, .notBrought:
            .unavailable
        case .unknownAction: .unknownAction
        case .noInstances, .instanceMissing, .unknownInstance: .unknownInstance
        case .noAuthorizer: .unauthorized
        }
    }
}

/// The result of a check.
public enum Verdict: Equatable, Sendable {
    case passed
    case refused(Refusal)
    /// The check doesn't apply to such a message.
    case free
    /// The known facts don't decide it.
    case depends
}
