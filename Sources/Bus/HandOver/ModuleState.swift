import StrataCore

/// The state of one row or guest: a `ModuleRecord`.
struct ModuleState: StatePart {
    var number = 0
    var name = ""
    var isGuest = false
    var isRemoved = false
    var place = 0
    var rank = 0
    /// Its peer's number; 0 if there is none.
    var peer: UInt64 = 0
    var successor: SuccessorState?
    var life = ModuleLife()
    var session = ModuleSession()
    var offer = Hello.Offer()
    var said = LauncherWord()
    var history = ModuleHistory()
    /// The slots of the requests that wait for it, in their order.
    var waiting: [UInt32] = []
    var readyWaiters: [ReadyWaiterState] = []
    var mailbox = MailboxState()
    /// The calls of `module/event` that wait for it, in their order.
    var waitingEvents: [CallReferenceState] = []
    var catchingUp = ModuleRecord.CatchingUp.no
    var formerSecrets: [AppTable.Secret] = []
    /// Whether it stands for the replicas of a row.
    var isGroup = false
    /// The replicas that have the slots of keys.
    var keySlots: [UInt8] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &number)
        try file(2, &name)
        try file(3, &isGuest)
        try file(4, &isRemoved)
        try file(5, &place)
        try file(6, &rank)
        try file(7, &peer)
        try file(8, &successor)
        try file(9, &life)
        try file(10, &session)
        try file(11, &offer)
        try file(12, &said)
        try file(13, &history)
        try file(14, &waiting)
        try file(15, &readyWaiters)
        try file(16, &mailbox)
        try file(17, &waitingEvents)
        try file(18, &catchingUp)
        try file(19, &formerSecrets)
        try file(20, &isGroup)
        try file(21, &keySlots)
    }
}

extension AppTable.Secret: StatePart {
    init() { self.init("", "") }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &key)
        try file(2, &value)
    }
}

/// The state of a `Successor`.
struct SuccessorState: StatePart {
    var peer: UInt64 = 0
    var brought = Successor.Brought()
    var step = ModuleLife.Step.joined
    var times = StartTimes()

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &peer)
        try file(2, &brought)
        try file(3, &step)
        try file(4, &times)
    }
}

/// The state of a `ReadyWaiter`.
struct ReadyWaiterState: StatePart {
    var isCreation = false
    var call = CallReferenceState()
    var interface = InterfaceReference()

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &isCreation)
        try file(2, &call)
        try file(3, &interface)
    }
}

extension Hello.Offer: StatePart {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &interfaces)
        try file(2, &urls)
    }
}

extension Hello.Interface: StatePart {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &name)
        try file(2, &instances)
        try file(3, &actions)
        try file(4, &version)
    }
}

extension ContractVersion: StateValue {
    init() { self.init(major: 0, minor: 0) }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var number = UInt32(major) << 16 | UInt32(minor)
        try number.pass(&file)
        self = ContractVersion(major: UInt16(number >> 16), minor: UInt16(number & 0xFFFF))
    }
}

extension StateFile {
    /// Passes required interfaces: their names under one tag, which a build without versions reads
    /// too, and under another one their versions, each empty if there is none.
    mutating func callAsFunction(
        names: UInt16, versions: UInt16, of required: inout [RequiredInterface]
    ) throws(StateError) {
        var (allNames, allVersions) = (required.map(\.name), required.map { $0.version?.description ?? "" })
        try self(names, &allNames)
        try self(versions, &allVersions)
        guard isReading else { return }
        required = allNames.enumerated().map { place, name in
            RequiredInterface(
                name: name, version: allVersions.indices.contains(place) ? ContractVersion(allVersions[place]) : nil)
        }
    }
}

extension InterfaceRecord.Action: StatePart {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &name)
        try file(2, &needsAuthorization)
        try file(3, &isStream)
        try file(4, &descriptors)
        if file.isReading { nameBytes = Array(name.utf8) }
    }
}

extension InterfaceRecord.DescriptorTerms: StatePart {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &params)
        try file(2, &reply)
    }
}

extension Hello.URL: StatePart {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &host)
        try file(2, &pattern)
        try file(3, &interface)
        try file(4, &action)
    }
}

extension URLPattern: StateValue {
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var text = text
        try text.pass(&file)
        guard file.isReading else { return }
        if let pattern = try? URLPattern(text) {
            self = pattern
            return
        }
        // To a build without rests, each star was literal.
        let literal = text.split(separator: "*", omittingEmptySubsequences: false).joined(separator: "%2A")
        do throws(BusURLError) { self = try URLPattern(literal) } catch {
            throw StateError("a module's URL can't be understood: \(error.message)")
        }
    }
}

extension ModuleLife: StatePart {
    init() { self = .away(Absence()) }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        var (kind, step, absence, retirement) = (UInt8(0), Step.joined, Absence(), Retirement())
        switch self {
        case .away(let away): (kind, absence) = (0, away)
        case .live(let live): (kind, step) = (1, live)
        case .retired(let retired): (kind, retirement) = (2, retired)
        case .ending(let ending): (kind, step) = (3, ending)
        }
        try file(1, &kind)
        try file(2, &step)
        try file(3, &absence.process)
        try file(4, &absence.wasStopped)
        try file(5, &absence.diedForGood)
        try file(6, &retirement.wasReady)
        try file(7, &retirement.isIdle)
        switch kind {
        case 0: self = .away(absence)
        case 1: self = .live(step)
        case 2: self = .retired(retirement)
        case 3: self = .ending(step)
        default: throw StateError("a module's life has no kind \(kind)")
        }
    }
}
