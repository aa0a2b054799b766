import StrataCore
import Testing

@testable import StrataPipe

/// One pipe with a clock that only the test moves. It performs the pipe's actions into a list.
final class LinkUnderTest {
    enum Done: Equatable {
        case control(ControlMessage)
        case piece(PieceHeader, [UInt8])
        case openBroker
        case closeBroker(NodeLoss)
    }

    var pipe: NodePipe
    var now: UInt64 = 1_000 * PipeTimes.second

    /// - Parameters:
    ///   - first: whether the pipe's node is the one that says hello.
    init(first: Bool = true, window: Int = 64 << 10, lost: UInt64 = 5 * PipeTimes.second, connected: Bool = true) {
        let names = first ? ("berlin", "tokyo") : ("tokyo", "berlin")
        let settings = PipeSettings(
            me: names.0, other: names.1, link: 0xA, firstSession: 0x100, window: window, lost: lost)
        pipe = NodePipe(settings, at: now)
        if connected { connect() }
    }

    func connect() { pipe.carrierConnected(largestMessage: 1 << 20, at: now) }

    // What the pipe says; `#expect` can't look into a value that can't be copied.
    var life: PipeLife { pipe.life }
    var state: NodeState { pipe.state }
    var figures: PipeFigures { pipe.figures }
    var session: UInt64 { pipe.session }
    var room: Int { pipe.room }
    var waiting: Int { pipe.waiting }
    var memory: Int { pipe.memory }
    var sent: UInt64 { pipe.sent }
    var unacknowledged: Int { pipe.unacknowledged }
    var roundTrip: UInt64 { pipe.roundTrip }
    var heardAt: UInt64 { pipe.heardAt }
    var deadline: UInt64? { pipe.deadline }
    var isOver: Bool { pipe.isOver }

    func ownGreeting(_ session: UInt64) -> ControlMessage.Greeting { pipe.greeting(session) }

    /// Performs what is due now.
    func done() -> [Done] {
        var done: [Done] = []
        while let action = pipe.next(at: now) {
            switch action {
            case .publishControl(let message): done.append(.control(message))
            case .publishPiece(let header, let count):
                var bytes = [UInt8](repeating: 0, count: PieceHeader.size + count)
                bytes.withUnsafeMutableBytes { pipe.writePiece(header, count: count, to: $0.baseAddress!) }
                done.append(.piece(header, Array(bytes[PieceHeader.size...])))
            case .openBroker: done.append(.openBroker)
            case .closeBroker(let loss): done.append(.closeBroker(loss))
            }
        }
        return done
    }

    /// The pieces that are published now.
    func pieces() -> [(header: PieceHeader, bytes: [UInt8])] {
        done().compactMap { if case .piece(let header, let bytes) = $0 { (header, bytes) } else { nil } }
    }

    /// The control messages that are published now.
    func controls() -> [ControlMessage] {
        done().compactMap { if case .control(let message) = $0 { message } else { nil } }
    }

    /// The losses that are reported now.
    func losses() -> [NodeLoss] {
        done().compactMap { if case .closeBroker(let loss) = $0 { loss } else { nil } }
    }

    /// Moves the clock, and lets the pipe see it.
    func wait(_ milliseconds: UInt64) {
        now += milliseconds * PipeTimes.millisecond
        pipe.timePassed(at: now)
    }

    func receive(_ message: ControlMessage) { receive(control: message.encoded()) }

    func receive(control bytes: [UInt8]) { bytes.withUnsafeBytes { pipe.received(control: $0, at: now) } }

    func receive(_ header: PieceHeader, _ payload: [UInt8] = []) {
        var bytes = [UInt8](repeating: 0, count: PieceHeader.size) + payload
        bytes.withUnsafeMutableBytes { header.write(to: $0.baseAddress!) }
        receive(piece: bytes)
    }

    func receive(piece bytes: [UInt8]) { bytes.withUnsafeBytes { pipe.received(piece: $0, at: now) } }

    /// A piece of the session that acknowledges `ack` bytes, and brings bytes.
    func receive(
        offset: UInt64 = 0, ack: UInt64 = 0, waiting: UInt32 = 0, flags: PieceHeader.Flags = [], probe: UInt16 = 0,
        bytes: [UInt8] = []
    ) {
        var header = PieceHeader(session: pipe.session)
        header.offset = offset
        header.ack = ack
        header.waiting = waiting
        header.flags = flags
        header.probe = probe
        receive(header, bytes)
    }

    func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { pipe.brokerWrote($0) } }

    /// The bytes that wait for the broker, which its socket then takes.
    func take(_ count: Int? = nil) -> [UInt8] {
        let bytes = pipe.withWaiting { Array($0) + Array($1) }.prefix(count ?? .max)
        pipe.brokerTook(bytes.count, at: now)
        return Array(bytes)
    }

    func greeting(link: UInt64 = 0xB, session: UInt64, window: Int = 64 << 10) -> ControlMessage.Greeting {
        ControlMessage.Greeting(node: pipe.settings.other, link: link, session: session, window: window)
    }

    /// Brings a session up, with the first sign of life published.
    func bringUp(link: UInt64 = 0xB, session: UInt64 = 0x77, window: Int = 64 << 10) {
        if pipe.settings.saysHello {
            _ = done()
            receive(.welcome(greeting(link: link, session: pipe.nextSession, window: window)))
        } else {
            receive(.hello(greeting(link: link, session: session, window: window)))
        }
        #expect(done() == [.openBroker])
        pipe.brokerOpened(at: now)
        _ = done()
    }
}
