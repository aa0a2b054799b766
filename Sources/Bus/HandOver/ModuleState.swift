import StrataCore

/// One row or guest: `ModuleRecord`.
struct ModuleState: StatePart {
    var number = 0
    var name = ""
    var isGuest = false
    var isRemoved = false
    var place = 0
    var rank = 0
    var pending: [String] = []
    /// Its peer's number; 0 for none.
    var peer: UInt64 = 0
    var successor: SuccessorState?
    var state = ""
    var step = ModuleRecord.Step.none
    var reason = ""
    var verdict = ModuleRecord.Verdict.none
    var verdictReason = ""
    var lastLines: [String] = []
    var deaths: [ActionDeathState] = []
    var lastDeath: ModuleDeathState?
    var vouch: VouchState?
    var diedForGood = false
    var isRetired = false
    var isIdleStop = false
    var wasRetiredReady = false
    var isWanted = false
    var since: UInt64 = 0
    var restarts = 0
    var sessions = 0
    var pid: Int32 = 0
    var uid: UInt32 = 0
    var times = StartTimesState()
    /// Slots of requests that wait, in their order.
    var waiting: [UInt32] = []
    var readyWaiters: [ReadyWaiterState] = []
    var offer = OfferState()
    var events: [String] = []
    var requires: [String] = []
    var seenReports: [String] = []

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&number)
        try file(&name)
        try file(&isGuest)
        try file(&isRemoved)
        try file(&place)
        try file(&rank)
        try file(&pending)
        try file(&peer)
        try file(&successor)
        try file(&state)
        try file(&step)
        try file(&reason)
        try file(&verdict)
        try file(&verdictReason)
        try file(&lastLines)
        try file(&deaths)
        try file(&lastDeath)
        try file(&vouch)
        try file(&diedForGood)
        try file(&isRetired)
        try file(&isIdleStop)
        try file(&wasRetiredReady)
        try file(&isWanted)
        try file(&since)
        try file(&restarts)
        try file(&sessions)
        try file(&pid)
        try file(&uid)
        try file(&times)
        try file(&waiting)
        try file(&readyWaiters)
        try file(&offer)
        try file(&events)
        try file(&requires)
        try file(&seenReports)
    }
}

/// `Successor`.
struct SuccessorState: StatePart {
    var peer: UInt64 = 0
    var offer = OfferState()
    var events: [String] = []
    var requires: [String] = []
    var step = ModuleRecord.Step.none
    var times = StartTimesState()

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&peer)
        try file(&offer)
        try file(&events)
        try file(&requires)
        try file(&step)
        try file(&times)
    }
}

/// `ModuleRecord.Vouch`.
struct VouchState: StatePart {
    var token = ""
    var process = ProcessState()
    var isByHand = false
    var spawnedAt: UInt64?

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&token)
        try file(&process)
        try file(&isByHand)
        try file(&spawnedAt)
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
