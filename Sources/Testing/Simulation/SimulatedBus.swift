internal import Strata
internal import StrataBus
internal import StrataCore

/// A bus in memory, with modules beside its peers. Numbers from a seed choose what happens next.
///
/// In a real app the broker, each module and each peer have loops of their own. So their turns
/// come in any order here. Within a module, everything keeps the order of its loop. Bytes arrive
/// in chunks of any size. Time passes when nothing is left to do, and a little in between.
///
/// `@unchecked Sendable` because all of it stays on the simulation's thread, which is the
/// actor's.
final class SimulatedBus: MemoryBus, @unchecked Sendable {
    /// Something that can happen next.
    private enum Turn {
        case connection(MemoryConnection)
        case writing(MemoryConnection)
        case idleWork
        case module(SimulatedTransport)
        case alarm(SimulatedAlarm)
        case blocking(Int)
        case globalJob(Int)
        case jobs
        case peer(Int)
    }

    private(set) var numbers: SeededGenerator
    let story = SimulationStory()
    private var transports: [SimulatedTransport] = []
    private var alarms: [SimulatedAlarm] = []
    private var blocking: [(label: String?, work: @Sendable () -> Void)] = []
    /// The time of its start, in milliseconds of its clock.
    private var begin: UInt64 = 0

    init(_ table: AppTable, seed: Int) {
        numbers = SeededGenerator(seed)
        super.init(table, isLaunched: false, own: ProcessIdentity(pid: 2, startTicks: 1))
        begin = milliseconds
    }

    /// The time since its start.
    var elapsed: Duration { .nanoseconds(broker.time) - .milliseconds(begin) }

    /// The time by its clock, as modules see it.
    var milliseconds: UInt64 { broker.time / 1_000_000 }

    override func connect(_ label: String) throws -> any PeerLink {
        MemoryLink(self, try pipe(of: ownPID), telling: StoryTeller(story, label))
    }

    /// Does nothing: the broker reads the peer's bytes in a turn of its own.
    override func peerActed() {}

    override func awaitInput(of wanted: [any PeerLink], until deadline: Deadline) throws -> [Int] {
        while true {
            try RealTimeWatch.check()
            guard !deadline.hasPassed(at: now) else {
                return chosen(of: wanted.indices.filter { isReadable(wanted[$0]) })
            }
            let turns = turns(wanted)
            guard !turns.isEmpty else {
                if !broker.hasEnded, broker.endRound() { continue }
                guard passTime(until: deadline) else { return [] }
                continue
            }
            let turn = turns[numbers.below(turns.count)]
            if case .peer(let index) = turn { return [index] }
            take(turn)
            // A broker's round may end after any turn, and a machine may be busy with something
            // else.
            if !broker.hasEnded, numbers.chance(1, in: 2) { broker.endRound() }
            if numbers.chance(1, in: 8) { pass(to: min(broker.time + moment(), time(of: deadline))) }
        }
    }

    /// Picks one of these indices; none if there are none.
    private func chosen(of places: [Int]) -> [Int] { places.isEmpty ? [] : [places[numbers.below(places.count)]] }

    // MARK: Turns

    private func turns(_ wanted: [any PeerLink]) -> [Turn] {
        var turns: [Turn] = []
        if !broker.hasEnded {
            for connection in broker.connections {
                if connection.wantsTurn { turns.append(.connection(connection)) }
                if connection.hasRoomAgain { turns.append(.writing(connection)) }
            }
            if broker.hasIdleWork { turns.append(.idleWork) }
        }
        transports.removeAll { $0.isClosed }
        for transport in transports where !transport.events.isEmpty { turns.append(.module(transport)) }
        alarms.removeAll { $0.isOver }
        for (index, alarm) in alarms.enumerated() where alarm.due <= milliseconds {
            // A loop's timers fire in their order.
            let isBehind = alarms.enumerated().contains { ($1.due, $0) < (alarm.due, index) && $1.owner == alarm.owner }
            if !isBehind { turns.append(.alarm(alarm)) }
        }
        for index in blocking.indices {
            let label = blocking[index].label
            if label == nil || !blocking[..<index].contains(where: { $0.label == label }) {
                turns.append(.blocking(index))
            }
        }
        turns += (0..<GlobalJobs.count).map { .globalJob($0) }
        if ModuleExecutor.shared.hasJobs { turns.append(.jobs) }
        for index in wanted.indices where isReadable(wanted[index]) { turns.append(.peer(index)) }
        return turns
    }

    private func take(_ turn: Turn) {
        switch turn {
        case .connection(let connection): broker.takeTurn(connection, most: chunk(of: connection.pipe.unread))
        case .writing(let connection): broker.writeOn(connection)
        case .idleWork: broker.advanceIdleWork()
        case .module(let transport): transport.ready(chunk(of: transport.arrived))
        case .alarm(let alarm): alarm.fire()
        case .blocking(let index): blocking.remove(at: index).work()
        case .globalJob(let index): GlobalJobs.run(index)
        case .jobs, .peer: break
        }
        ModuleExecutor.shared.drain()
    }

    /// Chooses how many of the sent bytes have arrived: all, or some.
    private func chunk(of count: Int) -> Int { numbers.chance(1, in: 2) ? .max : 1 + numbers.below(max(1, count)) }

    // MARK: Time

    /// A pause of up to 5 ms, in nanoseconds.
    private func moment() -> UInt64 { UInt64(numbers.below(5_000_000)) }

    private func pass(to time: UInt64) {
        guard time > broker.time else { return }
        broker.pass(to: time)
        story.milliseconds = milliseconds - begin
    }

    /// Lets time pass until the next timer is due.
    /// - Returns: false if the deadline comes first; it is reached then.
    private func passTime(until deadline: Deadline) -> Bool {
        let end = time(of: deadline)
        let due = (alarms.map { $0.due * 1_000_000 } + [broker.due ?? .max]).min() ?? .max
        pass(to: min(due, end))
        return due <= end
    }

    // MARK: The broker

    /// Kills the broker. Messages on their way are lost.
    func killBroker() {
        story.tell("# the broker is killed")
        broker.crash()
    }

    /// Starts another broker for the same app.
    func startBroker(_ table: AppTable) {
        story.tell("# a broker starts")
        begin(table)
    }

    // MARK: Modules

    func add(_ transport: SimulatedTransport) { transports.append(transport) }

    func add(_ alarm: SimulatedAlarm) { alarms.append(alarm) }

    func block(_ label: String?, _ work: @escaping @Sendable () -> Void) { blocking.append((label, work)) }
}
