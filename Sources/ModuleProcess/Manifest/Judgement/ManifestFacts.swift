import StrataCore

/// What a manifest and its modules say of a message: the judge asks for it.
struct ManifestFacts: MessageFacts {
    let kind: MessageKind
    var policy: AppTable.CallPolicy
    let rank: Int
    var targetRank = 0
    var isOwn = false
    var existence: Existence? = .found
    var isDeclared = false
    var presence: Presence?
    var offer: Offer?
    var hasAction: Bool?
    var hasInstances: Bool?
    var namesInstance = false
    var needsAuthorization: Bool?
    var isAuthorizers = false
    var hasAuthorizer: Bool?

    let sender = PeerRole.module
    // What a sender says in one message, and what a running app knows.
    let skipsAuthorization = false
    let isTrusted = false
    let isOfTheApp = false
    let isQuarantined: Bool? = nil
    let startStep: StartStep? = nil
    let startsLater = false
    let isSendersInstance: Bool? = nil

    /// A message of a row's.
    init(_ kind: MessageKind, _ policy: AppTable.CallPolicy, from sender: AppTable.Row) {
        self.kind = kind
        self.policy = policy
        rank = sender.rank
    }

    /// The same to a module of a rank, another than the sender.
    init(_ kind: MessageKind, _ policy: AppTable.CallPolicy, from sender: AppTable.Row, to rank: Int) {
        self.init(kind, policy, from: sender)
        targetRank = rank
    }

    /// Takes what is known of who serves a call; nil where its program has not described itself.
    /// - Parameter action: nil for calls of an interface in general.
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
    /// Its actions that the authorizer has to allow.
    var guarded: [String] { (actions ?? []).filter(\.needsAuthorization).map(\.name) }
}
