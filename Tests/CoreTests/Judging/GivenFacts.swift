import StrataCore

/// A message's facts as a test gives them. By default, they are those of a module's call that no
/// check refuses.
struct GivenFacts: MessageFacts {
    var kind: MessageKind
    var policy = AppTable.CallPolicy.declared
    var sender = PeerRole.module
    var rank = 1
    var targetRank = 0
    var isOwn = false
    var existence: Existence? = .found
    var skipsAuthorization = false
    var isTrusted = false
    var isDeclared = true
    var isManaging = false
    var isOfTheApp = false
    var reach: Reach?
    var isQuarantined: Bool? = false
    var presence: Presence? = .ready
    var startStep: StartStep?
    var startsLater = false
    var offer: Offer? = .brought
    var hasAction: Bool? = true
    var hasInstances: Bool? = false
    var namesInstance = false
    var isSendersInstance: Bool? = false
    var needsAuthorization: Bool? = false
    var isAuthorizers = false
    var hasAuthorizer: Bool? = true

    init(_ kind: MessageKind = .call, _ change: (inout GivenFacts) -> Void = { _ in }) {
        self.kind = kind
        change(&self)
    }
}
