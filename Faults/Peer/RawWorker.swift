internal import FaultRecord
internal import Glibc
internal import Strata
internal import StrataTesting

/// A peer without the runtime. It reads when it wants, and on an order it leaves midway through a
/// frame. It sees each answer that arrives, even a second one to the same request.
final class RawWorker {
    let role: Role
    let log: RecordLog
    let member: Membership
    let place: Board.Place
    let board: Board
    private let socket: String
    private let token: String?
    private let lifeline: Int32
    var generator: Generator
    /// The connection; nil while there is none.
    var peer: RawPeer?
    /// The requests of this session without a final answer. An id is never used twice.
    var open: Set<UInt64> = [] {
        didSet { place.open = UInt64(open.count) }
    }
    var made: UInt64 = 0
    private var session: UInt64 = 0
    var hasSetUp = false
    var hasStarted = false
    /// The open ping, and the time at which it was sent. Its answer shows that everything before
    /// it is flushed.
    var ping: (id: UInt64, sentAt: UInt64)?
    /// The `module/tearDown` call, which is answered only when all requests are.
    var ending: ReceivedFrame?
    /// The first id of pings. The ids of requests are lower.
    static let pings: UInt64 = 1 << 40

    init(
        _ role: Role, _ log: RecordLog, _ member: Membership, socket: String, token: String?, lifeline: Int32
    ) throws {
        self.role = role
        self.log = log
        self.member = member
        board = try member.board(log)
        self.socket = socket
        self.token = token
        self.lifeline = lifeline
        generator = member.generator(log)
        place = board.place(log.process)
        if lifeline >= 0 { _ = fcntl(lifeline, F_SETFL, O_NONBLOCK) }
    }

    /// Runs until the app ends.
    func run() throws {
        var failures = 0
        while isAppThere {
            do {
                if peer == nil {
                    try connect()
                    failures = 0
                }
                try step()
            } catch {
                failures += 1
                guard failures < 600 else { throw error }
                lose()
                // A second guest waits until the name of the first one is free.
                if role.player == .guest, !isLoading { exit(0) }
                usleep(50_000)  // because no event reports when the socket has a listener again
            }
        }
        exit(0)
    }

    /// Whether the peer should still make requests.
    var isLoading: Bool { board.phase == .load && ending == nil }

    private var isAppThere: Bool {
        guard lifeline >= 0 else { return true }
        var byte: UInt8 = 0
        return read(lifeline, &byte, 1) != 0
    }

    private func connect() throws {
        let peer = try RawPeer(path: socket, label: role.name)
        if role.player == .tool {
            try peer.hello(role: "operator")
        } else {
            try peer.hello(role.player == .guest ? "Guest" : role.name, hello)
        }
        self.peer = peer
        session += 1
        log.write(Record(.session, number: session))
    }

    private var hello: JSON {
        let interface = role.player == .guest ? "Guest" : role.name
        var members: [JSON.Member] = [
            .init("interfaces", .object([.init(interface, ["instances": "single"])])),
            .init("observes", .array(observations)), .init("resumed", .bool(hasStarted)),
        ]
        if let token { members.append(.init("token", .string(token))) }
        return .object(members)
    }

    private var observations: [JSON] {
        role.keepsAll.map { ["name": .string("\($0).news")] }
            + role.keepsLatest.map { ["name": .string("\($0).news"), "keep": "latest"] }
    }

    private func step() throws {
        guard let peer else { return }
        if let frame = try peer.nextIfAny(within: .milliseconds(open.count < 6 ? 1 : 10)) {
            try take(frame, peer)
        } else if peer.hasEnded {
            return lose()
        }
        try obey(peer)
        guard self.peer != nil else { return }
        if isLoading { try makeLoad(peer) }
        try finish(peer)
    }

    /// Notes that the connection has ended, but not from this side.
    private func lose() {
        guard let peer else { return }
        log.write(Record(.closed, extra: 1))
        forget(peer)
    }

    private func forget(_ peer: RawPeer) {
        peer.close()
        self.peer = nil
        open = []
        ping = nil
        if ending != nil { exit(0) }
    }

    private func obey(_ peer: RawPeer) throws {
        let order = place.order
        guard order > 0 else { return }
        place.order = 0
        guard order == Board.Place.cut else {
            usleep(UInt32(truncatingIfNeeded: order) &* 1_000)  // because not reading is the fault that was ordered
            return
        }
        let frame = FrameBytes.frame(
            ["kind": "call", "id": .integer(Int64(made + 1)), "to": "Press/echo"], body: "cut off")
        try peer.send(bytes: Array(frame.prefix(generator.number(1...(frame.count - 1)))))
        log.write(Record(.closed))
        forget(peer)
    }

    /// Does its part of an end: its own end, or the run's.
    private func finish(_ peer: RawPeer) throws {
        let phase = board.phase
        guard ending != nil || place.done < phase.rawValue, !isLoading, open.isEmpty, ping == nil else { return }
        let id = Self.pings + UInt64(session) << 8 + (ending != nil ? 3 : phase.rawValue)
        ping = (id, Record.now)
        try peer.call("bus/ping", id: id)
    }
}
