internal import FaultRecord
internal import Glibc
internal import Strata

/// A module of the fault run's app. Its role says what it offers and does. It logs each request
/// that it makes or handles, and each notice.
@main
final class Worker: Module {
    nonisolated static let name = "Worker"

    let bus: Bus
    let role: Role
    let member: Membership
    let log: RecordLog
    let board: Board
    let place: Board.Place
    let store: StoreFile
    var generator: Generator
    /// The number of requests that this process has made, and of those without a final answer.
    var made: UInt64 = 0
    var open: UInt64 = 0 {
        didSet { place.open = open }
    }
    /// The number of the current session, as far as the process knows.
    var session: UInt64 = 1
    /// The number of broadcasts that the runtime has accepted in this session.
    var published: UInt64 = 0
    private var isEnding = false

    init(bus: Bus) throws {
        guard let role = Role.named(bus.module), let index = Role.index(of: bus.module) else {
            throw RecordError("\(bus.module) is no role of the fault run")
        }
        // If a limit on file sizes stands in for the store's disk, a failed write should return
        // an error.
        signal(SIGXFSZ, SIG_IGN)
        self.bus = bus
        self.role = role
        member = try Membership()
        log = try member.log(role: index, replica: Role.replica(of: bus.module))
        board = try member.board(log)
        place = board.place(log.process)
        store = StoreFile(path: member.folder + "/disk/store")
        generator = member.generator(log)
    }

    func register(_ exports: inout Exports) { export(&exports) }

    func setUp(_ context: Context) async throws { log.write(Record(.setUp)) }

    func didStart() async throws {
        for index in 0..<Self.loops { try bus.background("load \(index)") { [self] in await makeLoad() } }
        if role.broadcasts > 0 { try bus.background("broadcasts") { [self] in try await publish() } }
        try bus.background("orders") { [self] in try await obeyOrders() }
        log.write(Record(.ready))
    }

    func resumed() async throws {
        session += 1
        published = 0
        log.write(Record(.session, number: session))
    }

    /// Ends in order. First waits for the module's own requests, which were cancelled with their
    /// tasks.
    func tearDown() async throws {
        isEnding = true
        log.write(Record(.tearDown))
        for _ in 0..<1_000 where open > 0 { try await sleep(milliseconds: 5) }
        let sentAt = Record.now
        let hasFlushed = (try? await bus.call("bus/ping", deadline: .seconds(2))) != nil
        if hasFlushed { log.write(Record(.flushed)) }
        log.write(Record(.drained, number: open, detail: hasFlushed ? sentAt : 0))
    }

    /// Follows the driver's orders, and does its part of the run's end.
    private func obeyOrders() async throws {
        while !Task.isCancelled {
            try await sleep(milliseconds: 10)
            let order = place.order
            if order > 0 {
                place.order = 0
                // Block the whole process, like a module that computes.
                usleep(UInt32(truncatingIfNeeded: order) &* 1_000)
            }
            let phase = board.phase
            guard phase.rawValue > Board.Phase.load.rawValue, !isEnding, open == 0, place.done < phase.rawValue else {
                continue
            }
            let before = session
            let sentAt = Record.now
            guard (try? await bus.call("bus/ping", deadline: .seconds(2))) != nil, before == session else { continue }
            log.write(phase == .stop ? Record(.flushed) : Record(.drained, number: open, detail: sentAt))
            place.done = phase.rawValue
        }
    }

    /// Whether the module should still make requests.
    var isLoading: Bool { board.phase == .load && !Task.isCancelled && !isEnding }
    /// Enough loops that a halted callee doesn't soon stop all of them.
    static let loops = 40
}
