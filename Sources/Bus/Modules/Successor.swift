/// A second session of a row under `replace: overlap`. It starts beside the one
/// that serves; what it brings is in force when it takes over.
final class Successor {
    let peer: Peer
    private(set) var offer: Hello.Offer
    private(set) var events: [String]
    private(set) var requires: [String]
    private var life = ModuleLife.live(.joined)
    /// When the steps of its start happened.
    private(set) var times: StartTimes

    init(_ peer: Peer, _ hello: Hello, _ times: StartTimes) {
        self.peer = peer
        offer = hello.offer
        events = hello.events
        requires = hello.requires
        self.times = times
    }

    /// Goes on where another program was.
    init(_ peer: Peer, _ state: SuccessorState, offer: Hello.Offer) {
        self.peer = peer
        self.offer = offer
        events = state.events
        requires = state.requires
        life = .live(state.step)
        times = state.times
    }

    /// How far its start is.
    var step: ModuleLife.Step { life.step ?? .joined }

    func take(_ event: ModuleLife.Event) { life.take(event) }

    func note(_ mark: StartTimes.Mark, at moment: StartTimes.Moment) { times.note(mark, at: moment) }

    /// It has said a further part of what it brings.
    func add(_ part: Hello, offering offer: Hello.Offer) {
        self.offer = offer
        events += part.events
        requires += part.requires
    }

    /// Some of what it was to bring is another module's by now.
    func take(_ offer: Hello.Offer) { self.offer = offer }
}
