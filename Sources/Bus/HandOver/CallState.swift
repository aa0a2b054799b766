import StrataCore

/// One open request: `Call`.
struct CallState: StatePart {
    var slot: UInt32 = 0
    var life = RequestLife()
    var isLifecycle = false
    var isAuthorized = false
    /// Its name; empty for what is no module's action.
    var action = ""
    /// Numbers of peers; 0 for none.
    var caller: UInt64 = 0
    var callerID: UInt64 = 0
    var callee: UInt64 = 0
    var end: UInt64 = 0
    /// The number of the module that it waits for; -1 for none.
    var waitsFor = -1
    var held: HeldState?
    var adaptation: AdaptationState?
    var deadline = Call.Deadline()
    var hasTimer = false
    var stream = Call.Stream()
    var startedAt: UInt64 = 0
    var notices = Call.Notices()
    /// Slots, newest first.
    var children: [UInt32] = []
    /// Of a call of the bus's own.
    var purpose: PurposeState?

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&slot)
        try file(&life)
        try file(&isLifecycle)
        try file(&isAuthorized)
        try file(&action)
        try file(&caller)
        try file(&callerID)
        try file(&callee)
        try file(&end)
        try file(&waitsFor)
        try file(&held)
        try file(&adaptation)
        try file(&deadline)
        try file(&hasTimer)
        try file(&stream)
        try file(&startedAt)
        try file(&notices)
        try file(&children)
        try file(&purpose)
    }
}

extension Call.Deadline: StatePart {
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&expiry)
        try file(&budget)
    }
}

extension Call.Stream: StatePart {
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&credit)
        try file(&owed)
        try file(&wasPassedOn)
    }
}

extension Call.Notices: StatePart {
    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&open)
        try file(&observers)
    }
}

/// `CallReference`.
struct CallReferenceState: StatePart {
    var slot: UInt32 = 0
    var generation: UInt32 = 0

    init() {}

    init(_ reference: CallReference) {
        slot = reference.call.pointee.slot
        generation = reference.generation
    }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&slot)
        try file(&generation)
    }
}

/// `HeldRequest`.
struct HeldState: StatePart {
    var to: [UInt8] = []
    var interface: InterfaceReference?
    var action: [UInt8] = []
    var url: [UInt8] = []
    var name: [UInt8] = []
    var object: BytesState?
    var trace: [UInt8] = []
    var meta: [UInt8] = []
    var body = WaitingBytes()
    var skipsAuthorization = false

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file.bytes(&to)
        try file(&interface)
        try file.bytes(&action)
        try file.bytes(&url)
        try file.bytes(&name)
        try file(&object)
        try file.bytes(&trace)
        try file.bytes(&meta)
        try file(&body)
        try file(&skipsAuthorization)
    }
}

/// An interface that something refers to: perhaps one that its owner has not any
/// more, or of an owner that is gone.
struct InterfaceReference: StatePart {
    var name = ""
    var owner = -1
    var ownerName = ""
    /// Whether it is the one that is found under that name.
    var isPresent = false

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&name)
        try file(&owner)
        try file(&ownerName)
        try file(&isPresent)
    }
}

/// How an open call's replies are renamed.
struct AdaptationState: StatePart {
    var steps: [Step] = []

    struct Step: StatePart {
        var from: [String] = []
        var to: [String] = []

        mutating func pass(_ file: inout StateFile) throws(StateError) {
            try file(&from)
            try file(&to)
        }
    }

    mutating func pass(_ file: inout StateFile) throws(StateError) { try file(&steps) }
}

/// `OwnPurpose`, its cases' values side by side.
struct PurposeState: StatePart {
    enum Kind: UInt8 {
        case start, askedRetirement, idleRetirement, removedRetirement, retiring, dismissal, ending, event, table
        case wanted, ping, stop, restart, release, authorization, metrics
    }

    var kind = Kind.release
    /// A module's number.
    var module = -1
    /// A `ModuleLife.Step`.
    var step = ModuleLife.Step.joined
    /// A peer's number.
    var peer: UInt64 = 0
    var milliseconds: UInt64 = 0
    var call = CallReferenceState()
    /// Which of the emissions, and whose answer.
    var emission = 0
    var listener = 0

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&kind)
        try file(&module)
        try file(&step)
        try file(&peer)
        try file(&milliseconds)
        try file(&call)
        try file(&emission)
        try file(&listener)
    }
}

/// `Emission`.
struct EmissionState: StatePart {
    enum Policy: UInt8 { case notify, all, any }

    var name = ""
    var params = WaitingBytes()
    var trace: [UInt8] = []
    var meta: [UInt8] = []
    var policy = Policy.notify
    var deadline: UInt64 = 0
    var request: CallReferenceState?
    /// Modules' numbers, and their names, since some may be gone.
    var listeners: [Int] = []
    var names: [String] = []
    /// By listener, as JSON; nil where none has come.
    var answers: [AnswerState] = []

    struct AnswerState: StatePart {
        var isThere = false
        var isTrue = false
        var json = WaitingBytes()

        mutating func pass(_ file: inout StateFile) throws(StateError) {
            try file(&isThere)
            try file(&isTrue)
            try file(&json)
        }
    }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&name)
        try file(&params)
        try file.bytes(&trace)
        try file.bytes(&meta)
        try file(&policy)
        try file(&deadline)
        try file(&request)
        try file(&listeners)
        try file(&names)
        try file(&answers)
        guard names.count == listeners.count, answers.count == listeners.count else {
            throw StateError("the event \(name) has \(listeners.count) listeners and \(answers.count) answers")
        }
    }
}
