import StrataCore

/// What a module's present session is and brings.
struct ModuleSession: StatePart {
    private(set) var pid: Int32 = 0
    private(set) var uid: UInt32 = 0
    /// The events that it listens to.
    private(set) var events: Set<String> = []
    /// What hello said that it requires.
    private(set) var requires: [String] = []
    private(set) var interfaces: [InterfaceRecord] = []
    private(set) var urls: [URLTarget] = []

    /// Another process serves: what it offers is added behind this.
    mutating func begin(_ credentials: PeerCredentials, events: [String], requires: [String]) {
        (pid, uid) = (credentials.pid, credentials.uid)
        (self.events, self.requires) = (Set(events), requires)
    }

    /// It has said a further part of what it brings.
    mutating func add(events: [String], requires: [String]) {
        self.events.formUnion(events)
        self.requires += requires
    }

    mutating func end() { events = [] }

    mutating func add(_ interface: InterfaceRecord) { interfaces.append(interface) }
    mutating func add(_ url: URLTarget) { urls.append(url) }

    /// Forgets the URLs, and the interfaces, that are the session's no more.
    mutating func removeDeadURLs() { urls.removeAll { !$0.isLive } }
    mutating func removeDeadInterfaces() { interfaces.removeAll { !$0.isLive } }

    mutating func takeInterfaces() -> [InterfaceRecord] {
        defer { interfaces = [] }
        return interfaces
    }

    mutating func takeURLs() -> [URLTarget] {
        defer { urls = [] }
        return urls
    }

    /// Without what it offers, which is written down apart.
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &pid)
        try file(2, &uid)
        try file(3, &events)
        try file(4, &requires)
    }
}

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

/// To which modules of its own level one has reported: `bus/levels` tells of them.
struct SeenReports: StatePart {
    /// So many are kept apart; further ones aren't.
    static let most = 16

    /// In the order of their first reports.
    private(set) var names: [String] = []
    /// Of the records that they were then: a guest that comes again has another.
    private var numbers: [Int] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &names)
        // In the next program the records are others; the next report of each says which.
        if file.isReading { numbers = names.map { _ in -1 } }
    }

    mutating func note(_ target: ModuleRecord) {
        guard !numbers.contains(target.number) else { return }
        if let place = names.firstIndex(of: target.name) {
            numbers[place] = target.number
        } else if names.count < Self.most {
            names.append(target.name)
            numbers.append(target.number)
        }
    }
}

/// What the bus itself does for a request when a module is ready, or known not
/// to become so.
enum ReadyWaiter {
    /// `bus/create` of an interface of the module's.
    case creation(CallReference, InterfaceRecord)
    /// A call is kept until the authorizer, an interface of the module's, can be asked.
    case authorization(CallReference, InterfaceRecord)

    /// The request.
    var call: CallReference {
        switch self {
        case .creation(let call, _), .authorization(let call, _): call
        }
    }
}

extension BusCore {
    /// Goes on with what waited for a module; a request that has ended is passed over.
    func settle(_ module: ModuleRecord, isReady: Bool) {
        for waiter in module.takeReadyWaiters() where waiter.call.isOpen {
            switch waiter {
            case .creation(let asking, let interface): ownerSettled(isReady, asking.call, interface)
            case .authorization(let asking, let authorizer): authorizerSettled(isReady, asking.call, authorizer)
            }
        }
    }
}
