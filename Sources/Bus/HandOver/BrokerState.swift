import StrataCore

/// Everything that a broker knows between two rounds of its loop, as plain values. The program that
/// replaces it continues from there.
///
/// Peers and modules are referred to by their numbers, calls by their slots. Times are the loop's,
/// which both programs read from the same clock. Descriptors are those of this process.
struct BrokerState: StatePart {
    /// The app's table as JSON.
    var table: [UInt8] = []
    var listener = ListenerState()
    var user: UInt32 = 0

    var next = NextNumbers()
    var modules: [ModuleState] = []
    /// Rows that a reload removed and whose sessions continue, as a table in JSON.
    var removedRows: [UInt8] = []
    var start = AppStart()

    var peers: [PeerState] = []
    var launcherSlot = LauncherSlotState()
    /// Replaced sessions that are still finishing their requests.
    var draining: [UInt64] = []

    var calls: [CallState] = []
    /// How often each slot was used, including the free ones.
    var generations: [UInt32] = []
    var emissions: [EmissionState] = []

    var instances: [InstanceState] = []
    var watches: [WatchState] = []
    var monitors: [MonitorState] = []
    /// Streams of `bus/traffic`, whose counts begin anew.
    var traffic: [CallReferenceState] = []

    var alarms: [AlarmState] = []

    var statistics = Statistics()
    var durations = HistogramState()

    /// The payloads that waiting frames and notices refer to, each once.
    var payloads: [WaitingBytes] = []
    /// The descriptors that go with some of them.
    var descriptors: [DescriptorState] = []
    /// Descriptors that are to be closed.
    var closing: [Int32] = []
    /// All descriptors that the next program gets, in a state that was captured.
    var handedOn: [FrameDescriptors] = []

    /// The launcher's word on the process that connects this bus with other nodes.
    var linkVouch: LauncherWord.Vouch?
    /// What was broadcast for the app's other nodes, and what has come from them.
    var nodes: [NodeState] = []

    /// What modules have retained.
    var retained: [RetainedState] = []

    /// Calls of `bus/handOver` that wait for the next program.
    var handOvers: [CallReferenceState] = []
    /// When the old program stopped serving, in nanoseconds.
    var begunAt: UInt64 = 0
    /// Random bytes that a trial answers with; the last of the state.
    var nonce: [UInt8] = []

    /// The file of the waiting bytes, and its mapping, in a state that was read. The reader closes
    /// the descriptor; -1 if there is none.
    var queues = (descriptor: Int32(-1), mapped: MappedFile?.none)

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &table)
        try file(2, &listener)
        try file(3, &user)
        try file(4, &next)
        try file(5, &modules)
        try file(6, &removedRows)
        try file(7, &start)
        try file(8, &peers)
        try file(9, &launcherSlot)
        try file(10, &draining)
        try file(11, &calls)
        try file(12, &generations)
        try file(13, &emissions)
        try file(14, &instances)
        try file(15, &watches)
        try file(16, &monitors)
        try file(17, &alarms)
        try file(18, &statistics)
        try file(19, &durations)
        try file(20, &payloads)
        try file(21, &handOvers)
        try file(22, &begunAt)
        try file(23, &nonce)
        try file(24, &linkVouch)
        try file(25, &nodes)
        try file(26, &traffic)
        try file(27, &retained)
        try file(28, &descriptors)
        try file(29, &closing)
    }
}

extension ProcessIdentity: StatePart {
    init() { self.init(pid: 0, startTicks: 0) }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        var (pid, startTicks) = (pid, startTicks)
        try file(1, &pid)
        try file(2, &startTicks)
        self = ProcessIdentity(pid: pid, startTicks: startTicks)
    }
}

/// The state of `LauncherSlot`.
struct LauncherSlotState: StatePart {
    /// The launcher's peer; 0 if there is none.
    var peer: UInt64 = 0
    var process: ProcessIdentity?
    var reloads: [CallReferenceState] = []
    var isAsked = false
    /// The reloads that the open question to the launcher is about, if `isAsked`.
    var asked: [CallReferenceState] = []
    /// The code and the message of the error with which its last reload failed; empty if none did.
    var refusalCode = ""
    var refusal = ""

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &peer)
        try file(2, &process)
        try file(3, &reloads)
        try file(4, &isAsked)
        try file(5, &asked)
        try file(6, &refusalCode)
        try file(7, &refusal)
    }
}

/// The socket that the broker listens on.
struct ListenerState: StatePart {
    var path = ""
    var descriptor: Int32 = -1
    /// Whether the socket's file is the bus's own.
    var removesFile = true

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &path)
        try file(2, &descriptor)
        try file(3, &removesFile)
    }
}

/// The numbers that are given out next.
struct NextNumbers: StatePart {
    var module = 0
    var peer: UInt64 = 0
    var instance: UInt64 = 0
    var retained: UInt64 = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &module)
        try file(2, &peer)
        try file(3, &instance)
        try file(4, &retained)
    }
}

/// The state of `Histogram`: the counts that aren't 0.
struct HistogramState: StatePart {
    var slots: [Int] = []
    var counts: [UInt64] = []
    var largest: UInt64 = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &slots)
        try file(2, &counts)
        try file(3, &largest)
    }
}

/// An instance of an interface.
struct InstanceState: StatePart {
    var number: UInt64 = 0
    var interface = InterfaceReference()
    var creator: UInt64 = 0
    var owner: UInt64 = 0
    var isPending = false

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &number)
        try file(2, &interface)
        try file(3, &creator)
        try file(4, &owner)
        try file(5, &isPending)
    }
}

/// The state of a `Watch`.
struct WatchState: StatePart {
    var call = CallReferenceState()
    var changed: [Int] = []

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &call)
        try file(2, &changed)
    }
}

/// The state of a `Monitor`.
struct MonitorState: StatePart {
    var call = CallReferenceState()
    var wanted = Monitor.Wanted()
    var missed: UInt64 = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &call)
        try file(2, &wanted)
        try file(3, &missed)
    }
}

/// The state of one alarm of `Alarms`.
struct AlarmState: StatePart {
    var kind = Alarms.Alarm.Kind.hello
    var peer: UInt64 = 0
    var due: UInt64 = 0

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &kind)
        try file(2, &peer)
        try file(3, &due)
    }
}

/// The tables that a state contains.
extension BrokerState {
    func appTable() throws(StateError) -> AppTable { try Self.table(table) }

    private static func table(_ bytes: [UInt8]) throws(StateError) -> AppTable {
        do { return try AppTable(json: try JSON(parsing: bytes)) } catch {
            throw StateError("the table can't be understood: \(error)")
        }
    }

    /// Creates the rows and guests, in their order and without sessions.
    func moduleRecords(_ table: AppTable) throws(StateError) -> [ModuleRecord] {
        let (rows, removed) = (Self.byName(table.modules), Self.byName(try Self.table(removedRows).modules))
        return try modules.map { (state) throws(StateError) in
            if state.isGroup { return ModuleRecord(replicasOf: state.name, number: state.number) }
            if state.isGuest { return ModuleRecord(guest: state.name, rank: state.rank, number: state.number) }
            guard let row = (state.isRemoved ? removed : rows)[state.name] else {
                throw StateError("the table has no row \(state.name)")
            }
            let record = ModuleRecord(row: row, number: state.number, place: state.place, on: table.node)
            // Before the table is made of the records, which goes by it.
            if state.isRemoved { record.lostRow() }
            return record
        }
    }

    private static func byName(_ rows: [AppTable.Row]) -> [String: AppTable.Row] {
        Dictionary(rows.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
