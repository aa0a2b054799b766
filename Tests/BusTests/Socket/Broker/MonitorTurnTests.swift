import StrataCore
import StrataLoop
import StrataTesting
import Testing

@testable import StrataBus

/// The cost of a monitor for other peers, counted: one note while a frame is handled, and a
/// bounded batch of formatting in a round of the loop.
@Suite(.timeLimit(.hang))
struct MonitorTurnTests {
    /// A broker on this thread, a module that broadcasts, and a tool that monitors.
    private final class Scene {
        let loop: Loop
        let broker: Broker
        private let folder: TemporaryFolder
        private let module: Socket
        private let tool: Socket

        init(_ params: JSON = [:], credit: Int64 = 100_000) throws {
            folder = try TemporaryFolder()
            loop = try Loop()
            let table = AppTable.testing([]) { $0.guests = .init(rank: 1, most: 4) }
            broker = try Broker(loop, table: table, path: "\(folder.path)/bus")
            module = try Socket.connect(loop, path: broker.listener?.path ?? "")
            tool = try Socket.connect(loop, path: broker.listener?.path ?? "")
            write(["kind": "call", "id": 1, "to": "bus/hello"], ["protocol": 1, "module": "Many"], by: module)
            write(["kind": "call", "id": 1, "to": "bus/hello"], ["protocol": 1, "role": "operator"], by: tool)
            write(["kind": "call", "id": 2, "to": "bus/monitor", "credit": .integer(credit)], params, by: tool)
            for _ in 0..<50 where broker.bus.monitors.monitors.isEmpty { loop.runOnce() }
            try #require(broker.bus.monitors.monitors.count == 1)
            // The first note would be formatted at once.
            for _ in 0..<20 { loop.runOnce() }
        }

        func end() {
            module.close()
            tool.close()
            broker.shutDown {}
            loop.run()
            folder.remove()
        }

        private func write(_ header: JSON, _ body: JSON?, by peer: Socket) {
            let bytes = FrameBytes.frame(header, body: body)
            _ = bytes.withUnsafeBytes { peer.write($0) }
        }

        /// Sends broadcasts and handles them.
        func broadcast(_ count: Int, _ body: String = "") throws {
            let frame = FrameBytes.frame(Array(#"{"kind":"broadcast","name":"news"}"#.utf8), body: Array(body.utf8))
            let wanted = broker.bus.statistics.broadcasts + UInt64(count)
            var rest = Array(repeatElement(frame, count: count).joined())[...]
            var rounds = 0
            while broker.bus.statistics.broadcasts < wanted {
                if !rest.isEmpty, case .moved(let count) = rest.withUnsafeBytes({ module.write($0) }) {
                    rest = rest.dropFirst(count)
                }
                loop.runOnce()
                rounds += 1
                try #require(rounds < 100_000)
            }
        }

        var monitor: Monitor { broker.bus.monitors.monitors[0] }
        var sent: Int { 100_000 - Int(monitor.call.pointee.stream.credit) }

        /// Returns how much each batch formats from now on, until a turn is done. The loop doesn't run in between,
        /// because its timer may begin the next turn in the same round.
        func piecesOfATurn() throws -> [Int] {
            var pieces: [Int] = []
            var rounds = 0
            while !broker.bus.monitors.turns.isUnderWay {
                loop.runOnce(waiting: true)
                rounds += 1
                try #require(rounds < 10_000)
            }
            while broker.bus.monitors.turns.isUnderWay {
                let before = sent
                broker.eventBegins()
                broker.bus.advanceNotes()
                pieces.append(sent - before)
            }
            return pieces
        }

        /// Simulates a light peer, for as long as the test takes.
        func haveALightPeer() {
            var pace = TurnShares.Pace()
            let now = Loop.nanoseconds + 3_600_000_000_000
            for turn in 0...UInt64(TurnShares.startTurns) + 1 {
                broker.shares.ended(&pace, start: now - 10_000_000 + turn * 1_000_000, frames: 1, bytes: 10) { now }
            }
        }
    }

    @Test(.promise("10.20")) func aFrameIsOnlyNotedWhileItIsHandled() throws {
        let scene = try Scene()
        defer { scene.end() }
        let before = scene.sent
        try scene.broadcast(400)
        #expect(scene.sent == before, "frames were formatted while others were handled")
        #expect(scene.broker.bus.monitors.ring?.count == 400 && scene.monitor.promised == 400)
        // All of them are formatted in one turn, in batches.
        let pieces = try scene.piecesOfATurn()
        #expect(pieces.reduce(0, +) == 400 && scene.monitor.promised == 0)
        #expect(pieces.allSatisfy { $0 <= NoteTurns.batch }, "\(pieces)")
    }

    @Test(.promise("10.20")) func batchesAreSmallBesideALightPeer() throws {
        let scene = try Scene()
        defer { scene.end() }
        try scene.broadcast(300)
        scene.haveALightPeer()
        let pieces = try scene.piecesOfATurn()
        #expect(pieces.reduce(0, +) == 300 && pieces.allSatisfy { $0 <= NoteTurns.sharedBatch }, "\(pieces)")
    }

    @Test(.promise("10.20")) func aTurnFormatsNoMoreThanItMay() throws {
        let scene = try Scene()
        defer { scene.end() }
        try scene.broadcast(1_000)
        try #require(scene.sent < 400)
        let pieces = try scene.piecesOfATurn()
        #expect(pieces.reduce(0, +) <= NoteTurns.mostWork + NoteTurns.batch, "\(pieces)")
    }

    @Test(.promise("10.20")) func bodiesThatAreLongToReadTakeALongerPause() throws {
        let scene = try Scene(["bodies": true])
        defer { scene.end() }
        let body = "[" + String(repeating: "1,", count: 4_000) + "1]"
        // So many that some are left, however long the rounds take in which they come.
        try scene.broadcast(10, body)
        // The body has more values than a turn may read, so a turn reads only one body.
        #expect(try scene.piecesOfATurn() == [1])
    }

    @Test(.promise("10.20")) func withoutCreditNothingIsKept() throws {
        let scene = try Scene(credit: 2)
        defer { scene.end() }
        try scene.broadcast(300)
        #expect((scene.broker.bus.monitors.ring?.count ?? 0) <= 2)
        #expect(scene.monitor.missed >= 298)
    }

    @Test(.promise("10.20")) func filtersAreJudgedBeforeAnythingIsKept() throws {
        let scene = try Scene(["name": "other"])
        defer { scene.end() }
        try scene.broadcast(300)
        #expect(scene.broker.bus.monitors.ring?.isEmpty == true && scene.monitor.missed == 0)
    }

    @Test(.promise("10.20")) func memoryIsHeldOnlyWhileAMonitorIsOpen() throws {
        let scene = try Scene()
        defer { scene.end() }
        try scene.broadcast(10)
        let bus: BusCore = scene.broker.bus
        bus.failAndCancel(scene.monitor.call, BusError(.cancelled, ""))
        #expect(bus.monitors.ring == nil && !bus.isAlarmSet(.notes))
        #expect(!bus.monitors.turns.isPlanned)
        try scene.broadcast(10)
    }
}
