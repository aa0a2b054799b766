/// A second session of a row under `replace: overlap`. It starts beside the one
/// that serves; what it brings is in force when it takes over.
final class Successor {
    let peer: Peer
    var offer: Hello.Offer
    var events: [String]
    var requires: [String]
    /// How far its start is.
    var step = ModuleLife.Step.joined
    /// When the steps of its start happened.
    var times = StartTimes()

    init(_ peer: Peer, offer: Hello.Offer, events: [String], requires: [String]) {
        self.peer = peer
        self.offer = offer
        self.events = events
        self.requires = requires
    }

    convenience init(_ peer: Peer, _ hello: Hello) {
        self.init(peer, offer: hello.offer, events: hello.events, requires: hello.requires)
    }
}
