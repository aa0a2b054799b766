/// A second session of a row under `replace: overlap`. It starts beside the one
/// that serves; what it brings is in force when it takes over.
final class Successor {
    let peer: Peer
    private(set) var brought: Brought
    private var life = ModuleLife.live(.joined)
    /// When the steps of its start happened.
    private(set) var times: StartTimes

    /// What it has said that it brings.
    struct Brought: StatePart {
        var offer = Hello.Offer()
        var events: [String] = []
        var requires: [String] = []

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &offer)
            try file(2, &events)
            try file(3, &requires)
        }
    }

    init(_ peer: Peer, _ hello: Hello, _ times: StartTimes) {
        self.peer = peer
        brought = Brought(offer: hello.offer, events: hello.events, requires: hello.requires)
        self.times = times
    }

    /// Goes on where another program was.
    init(_ peer: Peer, _ state: SuccessorState) {
        self.peer = peer
        brought = state.brought
        life = .live(state.step)
        times = state.times
    }

    var offer: Hello.Offer { brought.offer }
    var events: [String] { brought.events }
    var requires: [String] { brought.requires }

    /// How far its start is.
    var step: ModuleLife.Step { life.step ?? .joined }

    func take(_ event: ModuleLife.Event) { life.take(event) }

    func note(_ mark: StartTimes.Mark, at moment: StartTimes.Moment) { times.note(mark, at: moment) }

    /// It has said a further part of what it brings.
    func add(_ part: Hello, offering offer: Hello.Offer) {
        brought.offer = offer
        brought.events += part.events
        brought.requires += part.requires
    }

    /// Some of what it was to bring is another module's by now.
    func take(_ offer: Hello.Offer) { brought.offer = offer }
}
