internal import FaultRecord
internal import Glibc
internal import Strata
internal import StrataTesting

/// A peer without the runtime: it reads when it wants, leaves midway through a
/// frame where it is ordered to, and sees each answer that comes, a second one too.
final class RawWorker {
    let role: Role
    let log: RecordLog
    let place: Board.Place
    private let board: Board
    private let socket: String
    private let token: String?
    private let lifeline: Int32
    var generator: Generator
    /// Nil where there is none at the moment.
    var peer: RawPeer?
    /// Requests of this session without a final answer; ids are never used twice.
    var open: Set<UInt64> = [] {
        didSet { place.open = UInt64(open.count) }
    }
    var made: UInt64 = 0
    private var session: UInt64 = 0
    private var hasSetUp = false
    private var hasStarted = false
    /// The ping that flushes, and when it was sent.
    private var ping: (id: UInt64, sentAt: UInt64)?
    /// `module/tearDown`, until all is answered.
    private var ending: ReceivedFrame?
    /// Ids of pings, beside those of requests.
    private static let pings: UInt64 = 1 << 40

    init(
        _ role: Role, _ log: RecordLog, _ board: Board, socket: String, token: String?, lifeline: Int32, seed: UInt64
    ) {
        self.role = role
        self.log = log
        self.board = board
        self.socket = socket
        self.token = token
        self.lifeline = lifeline
        generator = Generator(seed &* 1_000_003 &+ UInt64(log.process))
        place = board.place(log.process)
        place.role = log.role
        place.pid = getpid()
        if lifeline >= 0 { _ = fcntl(lifeline, F_SETFL, O_NONBLOCK) }
    }

    /// Until the app ends.
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
                // A second guest waits until the first one's name is free.
                if role.player == .guest, !isLoading { exit(0) }
                usleep(50_000)
            }
        }
        exit(0)
    }

    /// Whether requests are still to be made.
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

    /// The connection has ended, and not from this side.
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
            usleep(UInt32(truncatingIfNeeded: order) &* 1_000)
            return
        }
        let frame = FrameBytes.frame(
            ["kind": "call", "id": .integer(Int64(made + 1)), "to": "Press/echo"], body: "cut off")
        try peer.send(bytes: Array(frame.prefix(generator.number(1...(frame.count - 1)))))
        log.write(Record(.closed))
        forget(peer)
    }

    /// Its part of an end: its own, or the run's.
    private func finish(_ peer: RawPeer) throws {
        let phase = board.phase
        guard ending != nil || place.done < phase.rawValue, !isLoading, open.isEmpty, ping == nil else { return }
        let id = Self.pings + UInt64(session) << 8 + (ending != nil ? 3 : phase.rawValue)
        ping = (id, Record.now)
        try peer.call("bus/ping", id: id)
    }

    // MARK: What comes

    private func take(_ frame: ReceivedFrame, _ peer: RawPeer) throws {
        switch frame.kind {
        case "call": try handle(frame, peer)
        case "notice" where frame["id"] != nil: try peer.reply(to: frame)
        case "notice": noticed(frame)
        case "reply", "error": try answered(frame, peer)
        default: break
        }
    }

    private func handle(_ frame: ReceivedFrame, _ peer: RawPeer) throws {
        switch frame.to {
        case "module/setUp":
            // One that lost its connection before its start was done is asked again.
            if !hasSetUp { log.write(Record(.setUp)) }
            hasSetUp = true
        case "module/didStart":
            hasStarted = true
            log.write(Record(.ready))
        case "module/tearDown":
            log.write(Record(.tearDown))
            ending = frame
            ping = nil
            return
        case _ where frame.to.hasPrefix("module/"): break
        default:
            let number = Digits.first(in: frame.body)
            log.write(Record(.started, number: number))
            log.write(Record(.ended, number: number))
            try peer.reply(to: frame, ["n": .integer(Int64(number))])
            return
        }
        try peer.reply(to: frame)
    }

    private func noticed(_ frame: ReceivedFrame) {
        let numbers = Digits.first(3, in: frame.body)
        guard numbers.count == 3, let index = Role.index(of: String(frame.name.dropLast(".news".count))) else { return }
        let role = role
        let isLatest = role.keepsLatest.contains { "\($0).news" == frame.name }
        log.write(
            Record(
                .noticed, kind: index, ran: isLatest ? 1 : 0,
                extra: UInt32(clamping: frame["missed"]?.integer ?? 0), number: numbers[0] << 32 | numbers[1],
                detail: numbers[2]))
    }

    private func answered(_ frame: ReceivedFrame, _ peer: RawPeer) throws {
        guard frame["id"] != nil else {
            if frame.code == "shutting-down" { exit(0) }
            return
        }
        guard !frame.isPartial else { return }
        if let ping, ping.id == frame.id { return try flushed(ping.sentAt, peer) }
        guard frame.id < Self.pings else { return }
        let number = RequestNumber(process: log.process, index: frame.id).value
        guard open.remove(frame.id) != nil else {
            log.write(Record(.answeredAgain, number: number))
            return
        }
        guard frame.kind == "error" else {
            let isOwn = Digits.first(in: frame.body) == number
            log.write(
                isOwn
                    ? Record(.answered, ran: Ran.yes.rawValue, extra: 1, number: number)
                    : Record(.wrongReply, number: number))
            return
        }
        let code = AnswerCode.number(frame.code)
        if code == AnswerCode.unexpected { print("unexpected: \(frame)") }
        log.write(Record(.answered, code: code, ran: Ran.number(frame.ran), number: number))
    }

    private func flushed(_ sentAt: UInt64, _ peer: RawPeer) throws {
        ping = nil
        if let ending {
            log.write(Record(.drained, number: UInt64(open.count), detail: sentAt))
            try peer.reply(to: ending)
            // Whatever comes until the connection's end is still served.
            return
        }
        let phase = board.phase
        log.write(phase == .stop ? Record(.flushed) : Record(.drained, number: UInt64(open.count), detail: sentAt))
        place.done = phase.rawValue
    }
}
