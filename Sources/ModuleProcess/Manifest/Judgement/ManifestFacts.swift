import StrataCore

/// The facts about a message that the manifest and the modules' descriptions contain.
struct ManifestFacts: MessageFacts {
    let kind: MessageKind
    var policy: AppTable.CallPolicy
    let rank: Int
    var targetRank = 0
    var isOwn = false
    var existence: Existence? = .found
    var isDeclared = false
    var isManaging = false
    var reach: Reach?
    var presence: Presence?
    var offer: Offer?
    var hasAction: Bool?
    var hasInstances: Bool?
    var namesInstance = false
    var needsAuthorization: Bool?
    var isAuthorizers = false
    var hasAuthorizer: Bool?

    let sender = PeerRole.module
    // Facts that only the message itself or a running app contains.
    let skipsAuthorization = false
    let isTrusted = false
    let isOfTheApp = false
    let isQuarantined: Bool? = nil
    let startStep: StartStep? = nil
    let startsLater = false
    let isSendersInstance: Bool? = nil

    /// Creates the facts of a message that a row sends.
    init(_ kind: MessageKind, _ policy: AppTable.CallPolicy, from sender: AppTable.Row) {
        self.kind = kind
        self.policy = policy
        rank = sender.rank
    }

    /// Creates the facts of a message to another module of the given rank.
    init(_ kind: MessageKind, _ policy: AppTable.CallPolicy, from sender: AppTable.Row, to rank: Int) {
        self.init(kind, policy, from: sender)
        targetRank = rank
    }

    /// Adds what is known about the interface of a call.
    /// - Parameters:
    ///   - interface: Nil if its program has not described itself; then nothing is added.
    ///   - action: Nil for calls of an interface in general.
    mutating func take(_ interface: ModuleDescription.Interface?, _ action: String?) {
        guard let interface else { return }
        offer = .brought
        hasAction = action.map(interface.has)
        hasInstances = action == nil && interface.isMultiple ? nil : interface.isMultiple
        let guarded = interface.guarded
        needsAuthorization = action.map(guarded.contains) ?? !guarded.isEmpty
    }
}

extension ModuleDescription.Interface {
    /// The actions that the authorizer has to allow.
    var guarded: [String] { (actions ?? []).filter(\.needsAuthorization).map(\.name) }
}
