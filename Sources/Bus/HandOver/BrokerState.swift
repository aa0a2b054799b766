import StrataCore

/// All that a broker knows between two rounds of its loop, as plain values: what
/// it is replaced with goes on from there.
///
/// Peers and modules are named by their numbers, calls by their slots. Times are
/// the loop's, which both programs read off one clock. Descriptors are of this
/// process.
struct BrokerState: StatePart {
    /// The app's table as JSON.
    var table: [UInt8] = []
    var listener = ListenerState()
    var user: UInt32 = 0

    var next = NextNumbers()
    var modules: [ModuleState] = []
    /// Rows that a reload took away and whose session goes on: a table as JSON.
    var removedRows: [UInt8] = []
    var order = StartOrderState()
    var appTimes = StartTimes()

    var peers: [PeerState] = []
    var seat = SeatState()
    /// Peers whose place another session took, until they are done.
    var leaving: [UInt64] = []

    var calls: [CallState] = []
    /// How often each slot was used, the free ones too.
    var generations: [UInt32] = []
    var emissions: [EmissionState] = []

    var instances: [InstanceState] = []
    var watches: [WatchState] = []
    var monitors: [MonitorState] = []

    var alarms: [AlarmState] = []

    var counters: [UInt64] = []
    var durations = HistogramState()

    /// What frames and notices that wait refer to, each once.
    var payloads: [WaitingBytes] = []

    /// Calls of `bus/handOver` that wait for the next program.
    var handOvers: [CallReferenceState] = []
    /// When the old program stopped serving, in nanoseconds.
    var begunAt: UInt64 = 0
    /// What a trial answers with: random bytes, the last of the state.
    var nonce: [UInt8] = []

    /// Of a state that was read: the file of the bytes that wait, and where it is mapped.
    /// The descriptor is the reader's to close; -1 for none.
    var queues = (descriptor: Int32(-1), mapped: MappedFile?.none)

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file.bytes(&table)
        try file(&listener)
        try file(&user)
        try file(&next)
        try file(&modules)
        try file.bytes(&removedRows)
        try file(&order)
        try file(&appTimes)
        try file(&peers)
        try file(&seat)
        try file(&leaving)
        try file(&calls)
        try file(&generations)
        try file(&emissions)
        try file(&instances)
        try file(&watches)
        try file(&monitors)
        try file(&alarms)
        try file(&counters)
        try file(&durations)
        try file.list(&payloads, WaitingBytes()) { (bytes, file) throws(StateError) in try file(&bytes) }
        try file(&handOvers)
        try file(&begunAt)
        try file.bytes(&nonce)
    }
}

extension ProcessIdentity: StatePart {
    init() { self.init(pid: 0, startTicks: 0) }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        var (pid, startTicks) = (pid, startTicks)
        try file(&pid)
        try file(&startTicks)
        self = ProcessIdentity(pid: pid, startTicks: startTicks)
    }
}

/// `LauncherSeat`.
struct SeatState: StatePart {
    /// The launcher's peer; 0 for none.
    var peer: UInt64 = 0
    var process: ProcessIdentity?
    var reloads: [CallReferenceState] = []
    var isAsked = false
    /// Where the launcher is asked.
    var asked: [CallReferenceState] = []

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&peer)
        try file(&process)
        try file(&reloads)
        try file(&isAsked)
        try file(&asked)
    }
}

/// The socket that the broker listens on.
struct ListenerState: StatePart {
    var path = ""
    var descriptor: Int32 = -1
    /// Whether the socket's file is the bus's own.
    var removesFile = true

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&path)
        try file(&descriptor)
        try file(&removesFile)
    }
}

/// The numbers that come next.
struct NextNumbers: StatePart {
    var module = 0
    var peer: UInt64 = 0
    var instance: UInt64 = 0

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&module)
        try file(&peer)
        try file(&instance)
    }
}

/// `StartOrder`.
struct StartOrderState: StatePart {
    var groups: [GroupState] = []
    var hasBegun = false

    struct GroupState: StatePart {
        var members: [Int] = []
        /// By member.
        var progress: [UInt8] = []

        mutating func pass(_ file: inout StateFile) throws(StateError) {
            try file(&members)
            try file(&progress)
        }
    }

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&groups)
        try file(&hasBegun)
    }
}

/// `Histogram`: the counts that aren't 0.
struct HistogramState: StatePart {
    var slots: [Int] = []
    var counts: [UInt64] = []
    var largest: UInt64 = 0

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&slots)
        try file(&counts)
        try file(&largest)
    }
}

/// An instance of an interface.
struct InstanceState: StatePart {
    var number: UInt64 = 0
    var interface = InterfaceReference()
    var creator: UInt64 = 0
    var owner: UInt64 = 0

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&number)
        try file(&interface)
        try file(&creator)
        try file(&owner)
    }
}

/// `Watch`.
struct WatchState: StatePart {
    var call = CallReferenceState()
    var changed: [Int] = []

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&call)
        try file(&changed)
    }
}

/// `Monitor`.
struct MonitorState: StatePart {
    var call = CallReferenceState()
    var module: String?
    var name: String?
    var bodies = false
    var missed: UInt64 = 0

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&call)
        try file(&module)
        try file(&name)
        try file(&bodies)
        try file(&missed)
    }
}

/// One of `Alarms`.
struct AlarmState: StatePart {
    var kind = Alarms.Alarm.Kind.hello
    var peer: UInt64 = 0
    var due: UInt64 = 0

    mutating func pass(_ file: inout StateFile) throws(StateError) {
        try file(&kind)
        try file(&peer)
        try file(&due)
    }
}
