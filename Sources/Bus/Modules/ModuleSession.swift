import StrataCore

/// A module's current session: its process, and what it brings.
struct ModuleSession: StatePart {
    private(set) var pid: Int32 = 0
    private(set) var uid: UInt32 = 0
    /// The events that it handles.
    private(set) var events: Set<String> = []
    /// The interfaces that hello said it requires.
    private(set) var requires: [RequiredInterface] = []
    private(set) var interfaces: [InterfaceRecord] = []
    private(set) var urls: [URLTarget] = []

    /// Begins the session of another process. What it offers is added afterwards.
    mutating func begin(_ credentials: PeerCredentials, events: [String], requires: [RequiredInterface]) {
        (pid, uid) = (credentials.pid, credentials.uid)
        (self.events, self.requires) = (Set(events), requires)
    }

    /// Adds another part of what it brings.
    mutating func add(events: [String], requires: [RequiredInterface]) {
        self.events.formUnion(events)
        self.requires += requires
    }

    mutating func end() { events = [] }

    func has(_ interface: InterfaceRecord) -> Bool { interfaces.contains { $0 === interface } }
    func has(_ url: URLTarget) -> Bool { urls.contains { $0 === url } }

    mutating func remove(_ interface: InterfaceRecord) { interfaces.removeAll { $0 === interface } }
    mutating func remove(_ url: URLTarget) { urls.removeAll { $0 === url } }

    mutating func add(_ interface: InterfaceRecord) { interfaces.append(interface) }
    mutating func add(_ url: URLTarget) { urls.append(url) }

    /// Removes the URLs, and below the interfaces, that no longer belong to the session.
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

    /// Reads or writes all but the offer, which is captured separately.
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &pid)
        try file(2, &uid)
        try file(3, &events)
        try file(names: 4, versions: 5, of: &requires)
    }
}

/// A second session of a row under `replace: overlap`. It starts beside the one that serves. What
/// it brings takes effect when it takes over.
final class Successor {
    let peer: Peer
    private(set) var brought: Brought
    private var life = ModuleLife.live(.joined)
    /// The times of the steps of its start.
    private(set) var times: StartTimes

    /// Everything that it has registered so far.
    struct Brought: StatePart {
        var offer = Hello.Offer()
        var events: [String] = []
        var requires: [RequiredInterface] = []

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &offer)
            try file(2, &events)
            try file(names: 3, versions: 4, of: &requires)
        }
    }

    init(_ peer: Peer, _ hello: Hello, _ times: StartTimes) {
        self.peer = peer
        brought = Brought(offer: hello.offer, events: hello.events, requires: hello.requires)
        self.times = times
    }

    /// Restores the state that the previous program's bus saved.
    init(_ peer: Peer, _ state: SuccessorState) {
        self.peer = peer
        brought = state.brought
        life = .live(state.step)
        times = state.times
    }

    var offer: Hello.Offer { brought.offer }
    var events: [String] { brought.events }
    var requires: [RequiredInterface] { brought.requires }

    /// How far its start is.
    var step: ModuleLife.Step { life.step ?? .joined }

    func take(_ event: ModuleLife.Event) { life.take(event) }

    func note(_ mark: StartTimes.Mark, at moment: StartTimes.Moment) { times.note(mark, at: moment) }

    func note(own mark: String, at moment: StartTimes.Moment) -> Bool { times.note(own: mark, at: moment) }

    /// Adds another part of what it brings.
    func add(_ part: Hello, offering offer: Hello.Offer) {
        brought.offer = offer
        brought.events += part.events
        brought.requires += part.requires
    }

    /// Replaces its offer, because another module has taken some of it meanwhile.
    func take(_ offer: Hello.Offer) { brought.offer = offer }
}

/// The modules of its own level that a module has reported to, as `bus/levels` shows them.
struct SeenReports: StatePart {
    /// The most names that are kept; further ones are ignored.
    static let most = 16

    /// The names, in the order of their first reports.
    private(set) var names: [String] = []
    /// The numbers of the records at that time. A guest that connects again has a new one.
    private var numbers: [Int] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &names)
        // The next program numbers its records anew; the next report to each module sets its
        // number.
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

/// A task that the bus does for a request when a module is ready, or known not to become ready.
enum ReadyWaiter {
    /// `bus/create` of one of the module's interfaces.
    case creation(CallReference, InterfaceRecord)
    /// A call that is kept until the authorizer, one of the module's interfaces, can be asked.
    case authorization(CallReference, InterfaceRecord)

    /// The request that the task is done for.
    var call: CallReference {
        switch self {
        case .creation(let call, _), .authorization(let call, _): call
        }
    }
}

extension BusCore {
    /// Continues a task that waited for a module, unless its request has ended.
    func settle(_ waiter: ReadyWaiter, isReady: Bool) {
        guard waiter.call.isOpen else { return }
        switch waiter {
        case .creation(let asking, let interface): ownerSettled(isReady, asking.call, interface)
        case .authorization(let asking, let authorizer): authorizerSettled(isReady, asking.call, authorizer)
        }
    }
}
