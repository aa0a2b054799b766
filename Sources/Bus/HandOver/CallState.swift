import StrataCore

/// The state of one open request: a `Call`.
struct CallState: StatePart {
    var slot: UInt32 = 0
    var life = RequestLife()
    var isLifecycle = false
    var isAuthorized = false
    /// What is asked: `Interface/action`, or a report's name.
    var action = ""
    /// The caller's number, and below the callee's; 0 if there is none.
    var caller: UInt64 = 0
    var callerID: UInt64 = 0
    var callee: UInt64 = 0
    var end: UInt64 = 0
    /// The number of the module that it waits for; -1 if there is none.
    var waitsFor = -1
    var held: HeldRequest.Copy?
    /// The interface of the held request.
    var interface: InterfaceReference?
    /// How its replies are renamed. Its params were renamed when the call was sent.
    var renamings: [MemberRenaming] = []
    var deadline = Call.Deadline()
    var hasTimer = false
    var stream = Call.Stream()
    var startedAt: UInt64 = 0
    var notices = Call.Notices()
    /// The slots of its children, newest first.
    var children: [UInt32] = []
    /// The purpose of one of the bus's own calls; nil for other calls.
    var purpose: PurposeState?
    var depth: UInt32 = 1
    var root: RootState?
    var mostDescriptors: UInt8 = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &slot)
        try file(2, &life)
        try file(3, &isLifecycle)
        try file(4, &isAuthorized)
        try file(5, &action)
        try file(6, &caller)
        try file(7, &callerID)
        try file(8, &callee)
        try file(9, &end)
        try file(10, &waitsFor)
        try file(11, &held)
        try file(12, &interface)
        try file(13, &renamings)
        try file(14, &deadline)
        try file(15, &hasTimer)
        try file(16, &stream)
        try file(17, &startedAt)
        try file(18, &notices)
        try file(19, &children)
        try file(20, &purpose)
        try file(21, &depth)
        try file(22, &root)
        try file(23, &mostDescriptors)
    }
}

/// The state of a `BusError.Root`.
struct RootState: StatePart {
    var code = ""
    var message = ""
    var module = ""
    /// Empty if there is none.
    var path = ""

    init() {}

    init(_ root: BusError.Root) {
        (code, message, module, path) = (root.code.rawValue, root.message, root.module, root.path ?? "")
    }

    var root: BusError.Root {
        BusError.Root(ErrorCode(code), message, module: module, path: path.isEmpty ? nil : path)
    }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &code)
        try file(2, &message)
        try file(3, &module)
        try file(4, &path)
    }
}

extension Call.Deadline: StatePart {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &expiry)
        try file(2, &budget)
    }
}

extension Call.Stream: StatePart {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &credit)
        try file(2, &owed)
        try file(3, &wasPassedOn)
    }
}

extension Call.Notices: StatePart {
    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &open)
        try file(2, &observers)
    }
}

/// The state of a `CallReference`.
struct CallReferenceState: StatePart {
    var slot: UInt32 = 0
    var generation: UInt32 = 0

    init() {}

    init(_ reference: CallReference) {
        slot = reference.call.pointee.slot
        generation = reference.generation
    }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &slot)
        try file(2, &generation)
    }
}

/// A reference to an interface. Its owner may no longer have it, or may have left.
struct InterfaceReference: StatePart {
    var name = ""
    var owner = -1
    var ownerName = ""
    /// Whether it is the interface that is found under that name.
    var isPresent = false

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &name)
        try file(2, &owner)
        try file(3, &ownerName)
        try file(4, &isPresent)
    }
}

/// The state of an `OwnPurpose`, with the values of all its cases side by side.
struct PurposeState: StatePart {
    enum Kind: UInt8 {
        case start, askedRetirement, idleRetirement, removedRetirement, retiring, dismissal, ending, event, table
        case wanted, ping, stop, restart, release, authorization, metrics, hang
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
    /// The index of the emission.
    var emission = 0
    /// The index of the listener within it.
    var listener = 0
    /// With `metrics`: the number of the instance that the call creates; 0 for an operator's
    /// question. A build that knows no creations forwards the answer, as it does for a question.
    var instance: UInt64 = 0
    /// With `retiring`: whether it is `module/settings`, whose answer a build without settings
    /// ignores, as it does that of `retiring`.
    var isSettings = false

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &kind)
        try file(2, &module)
        try file(3, &step)
        try file(4, &peer)
        try file(5, &milliseconds)
        try file(6, &call)
        try file(7, &emission)
        try file(8, &listener)
        try file(9, &instance)
        try file(10, &isSettings)
    }
}

/// The state of an `Emission`.
struct EmissionState: StatePart {
    enum Policy: UInt8 { case notify, all, any }

    var name = ""
    var params = WaitingBytes()
    var trace: [UInt8] = []
    var meta: [UInt8] = []
    var policy = Policy.notify
    var deadline: UInt64 = 0
    var request: CallReferenceState?
    /// The listeners' numbers, and their names, because some modules may have left.
    var listeners: [Int] = []
    var names: [String] = []
    /// The answers by listener.
    var answers: [AnswerState] = []

    struct AnswerState: StatePart {
        var isThere = false
        var isTrue = false
        var json = WaitingBytes()

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &isThere)
            try file(2, &isTrue)
            try file(3, &json)
        }
    }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &name)
        try file(2, &params)
        try file(3, &trace)
        try file(4, &meta)
        try file(5, &policy)
        try file(6, &deadline)
        try file(7, &request)
        try file(8, &listeners)
        try file(9, &names)
        try file(10, &answers)
        guard names.count == listeners.count, answers.count == listeners.count else {
            throw StateError("the event \(name) has \(listeners.count) listeners and \(answers.count) answers")
        }
    }
}
