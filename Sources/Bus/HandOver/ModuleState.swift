import StrataCore

/// One row or guest: `ModuleRecord`.
struct ModuleState: StatePart {
    var number = 0
    var name = ""
    var isGuest = false
    var isRemoved = false
    var place = 0
    var rank = 0
    /// Its peer's number; 0 for none.
    var peer: UInt64 = 0
    var successor: SuccessorState?
    var life = ModuleLife()
    var session = ModuleSession()
    var offer = OfferState()
    var said = LauncherWord()
    var history = ModuleHistory()
    /// Slots of requests that wait, in their order.
    var waiting: [UInt32] = []
    var readyWaiters: [ReadyWaiterState] = []

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&number)
        try file(&name)
        try file(&isGuest)
        try file(&isRemoved)
        try file(&place)
        try file(&rank)
        try file(&peer)
        try file(&successor)
        try file(&life)
        try file(&session)
        try file(&offer)
        try file(&said)
        try file(&history)
        try file(&waiting)
        try file(&readyWaiters)
    }
}

/// `Successor`.
struct SuccessorState: StatePart {
    var peer: UInt64 = 0
    var offer = OfferState()
    var events: [String] = []
    var requires: [String] = []
    var step = ModuleLife.Step.joined
    var times = StartTimes()

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&peer)
        try file(&offer)
        try file(&events)
        try file(&requires)
        try file(&step)
        try file(&times)
    }
}

/// `ReadyWaiter`.
struct ReadyWaiterState: StatePart {
    var isCreation = false
    var call = CallReferenceState()
    var interface = InterfaceReference()

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&isCreation)
        try file(&call)
        try file(&interface)
    }
}

/// `Hello.Offer`.
struct OfferState: StatePart {
    var interfaces: [Interface] = []
    var urls: [URL] = []

    struct Interface: StatePart {
        var name = ""
        var isMultiple = false
        /// Nil where none are listed.
        var actions: Actions?

        mutating func pass(_ file: inout StateFile) throws(StateError) {
            try file(&name)
            try file(&isMultiple)
            try file(&actions)
        }
    }

    struct Actions: StatePart {
        var names: [String] = []
        /// By action: 1 where it needs authorization.
        var auth: [UInt8] = []

        mutating func pass(_ file: inout StateFile) throws(StateError) {
            try file(&names)
            try file(&auth)
            guard names.count == auth.count else { throw StateError("an interface's actions contradict each other") }
        }
    }

    struct URL: StatePart {
        var host = ""
        var path = ""
        var interface = ""
        var action = ""

        mutating func pass(_ file: inout StateFile) throws(StateError) {
            try file(&host)
            try file(&path)
            try file(&interface)
            try file(&action)
        }
    }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&interfaces)
        try file(&urls)
    }
}

extension ModuleLife: StatePart {
    init() { self = .away(Absence()) }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var (kind, step, absence, retirement) = (UInt8(0), Step.joined, Absence(), Retirement())
        switch self {
        case .away(let away): (kind, absence) = (0, away)
        case .live(let live): (kind, step) = (1, live)
        case .retired(let retired): (kind, retirement) = (2, retired)
        case .ending(let ending): (kind, step) = (3, ending)
        }
        try file(&kind)
        try file(&step)
        try file(&absence.process)
        try file(&absence.wasStopped)
        try file(&absence.diedForGood)
        try file(&retirement.wasReady)
        try file(&retirement.isIdle)
        switch kind {
        case 0: self = .away(absence)
        case 1: self = .live(step)
        case 2: self = .retired(retirement)
        case 3: self = .ending(step)
        default: throw StateError("a module's life has no kind \(kind)")
        }
    }
}
