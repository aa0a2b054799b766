import Glibc
import StrataCore
import StrataLoop
import Testing

@testable import Strata

/// A broker that follows a test's orders, frame by frame. It shares only the transport with the
/// runtime: it reads and writes frames itself.
@ModuleActor
final class FakeBroker {
    let path: String
    private let listener: Listener
    private var peers: [FakePeer] = []
    private var accepted: [FakePeer] = []
    private var waiter: CheckedContinuation<FakePeer?, Never>?

    private static var count = 0

    init() throws {
        Self.count += 1
        path = "/tmp/strata-runtime-\(getpid())-\(Self.count).sock"
        var accept: (Socket) -> Void = { _ in }
        listener = try Listener(LoopSurroundings.shared.loop, path: path) { accept($0) }
        accept = { [unowned self] socket in self.accept(socket) }
    }

    func close() {
        listener.close()
        for peer in accepted { peer.close() }
    }

    /// Returns the next connection.
    func peer() async throws -> FakePeer {
        let next = await untilCancelled {
            // Checked in the same step that begins to wait, because an `await` lets other tasks
            // run.
            if peers.isEmpty { waiter = $0 } else { $0.resume(returning: peers.removeFirst()) }
        } giveUp: {
            self.waiter?.resume(returning: nil)
            self.waiter = nil
        }
        return try #require(next, "nobody connected in the test's time")
    }

    private func accept(_ socket: Socket) {
        let peer = FakePeer(socket)
        accepted.append(peer)
        if let waiter {
            self.waiter = nil
            waiter.resume(returning: peer)
        } else {
            peers.append(peer)
        }
    }
}

/// A frame as the fake broker received it.
struct FakeFrame: Sendable {
    let header: JSON
    let body: JSON

    subscript(_ name: String) -> JSON? { header[name] }
    var kind: String { header["kind"]?.string ?? "" }
    var id: JSON { header["id"] ?? .null }
}

/// One connection of a fake broker.
@ModuleActor
final class FakePeer {
    private let transport: Socket
    private var bytes: [UInt8] = []
    private var frames: [FakeFrame] = []
    private var waiter: CheckedContinuation<FakeFrame?, Never>?
    private var hasEnded = false
    private var nextID: Int64 = 100

    init(_ transport: Socket) {
        self.transport = transport
        transport.setEventHandler { [unowned self] _ in self.read() }
        transport.watch(.readable)
    }

    func close() { transport.close() }

    /// Returns the next frame; nil at the end of the connection or of the test's time.
    func frame() async -> FakeFrame? {
        await untilCancelled {
            if !frames.isEmpty {
                $0.resume(returning: frames.removeFirst())
            } else if hasEnded {
                $0.resume(returning: nil)
            } else {
                waiter = $0
            }
        } giveUp: {
            self.waiter?.resume(returning: nil)
            self.waiter = nil
        }
    }

    /// Returns the next frame, which must be of that kind.
    func expect(_ kind: String, _ location: SourceLocation = #_sourceLocation) async throws -> FakeFrame {
        let frame = try #require(
            await frame(), "the connection ended, or the test's time did", sourceLocation: location)
        #expect(frame.kind == kind, "got \(frame.header) \(frame.body)", sourceLocation: location)
        return frame
    }

    func send(_ header: JSON, _ body: JSON? = nil) {
        let head = header.encoded()
        let tail = body?.encoded() ?? []
        let frame = Self.length(4 + head.count + tail.count) + Self.length(head.count) + head + tail
        frame.withUnsafeBytes { raw in
            let written = withUnsafePointer(to: raw) { transport.write(UnsafeBufferPointer(start: $0, count: 1)) }
            guard case .moved(let count) = written, count == raw.count else {
                Issue.record("the fake broker couldn't write a whole frame")
                return
            }
        }
    }

    /// Calls the module, and returns its answer.
    func call(_ to: String, _ body: JSON? = nil, _ more: [JSON.Member] = []) async throws -> FakeFrame {
        let id = send(call: to, body, more)
        let answer = try #require(await frame())
        #expect(answer.id == .integer(id))
        return answer
    }

    /// Sends a call, and returns its id.
    func send(call to: String, _ body: JSON? = nil, _ more: [JSON.Member] = []) -> Int64 {
        nextID += 1
        let from = to.hasPrefix("module/") ? "bus" : "Tester"
        let members = [
            JSON.Member("kind", "call"), JSON.Member("id", .integer(nextID)), JSON.Member("to", .string(to)),
            JSON.Member("from", .string(from)), JSON.Member("deadline", 30_000), JSON.Member("credit", 16),
        ]
        send(.object(members.filter { member in !more.contains { $0.name == member.name } } + more), body)
        return nextID
    }

    func reply(_ frame: FakeFrame, _ body: JSON? = [:]) {
        send(["kind": "reply", "id": frame.id], body)
    }

    func fail(_ frame: FakeFrame, _ code: String, _ message: String = "no", ran: String = "no", _ body: JSON? = nil) {
        send(
            ["kind": "error", "id": frame.id, "code": .string(code), "message": .string(message), "ran": .string(ran)],
            body)
    }

    /// Answers hello as a broker with these features would.
    @discardableResult
    func welcome(features: [String] = ["rest-urls"], settings: JSON = ["size": 3]) async throws -> FakeFrame {
        let hello = try await expect("call")
        #expect(hello["to"] == "bus/hello")
        let count = hello.body["observes"]?.array?.count ?? 0
        reply(
            hello,
            [
                "app": "test", "env": "debug", "module": hello.body["module"] ?? .null, "level": "middle", "rank": 1,
                "levels": ["basic", "middle", "topout"], "schemes": ["test"], "settings": settings,
                "launchOptions": [:], "subscriptions": .array((0..<count).map { .integer(Int64($0) + 1) }),
                "limits": ["frame": 16_777_216, "header": 16_384, "calls": 64, "queue": 8_388_608],
                "features": .array(features.map(JSON.string)),
            ])
        return hello
    }

    private func read() {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { space in
            switch transport.read(into: space) {
            case .moved(let count): bytes.append(contentsOf: space[..<count])
            case .wouldBlock: break
            case .ended, .failed: end()
            }
        }
        while let frame = nextFrame() {
            if let waiter {
                self.waiter = nil
                waiter.resume(returning: frame)
            } else {
                frames.append(frame)
            }
        }
    }

    private func end() {
        hasEnded = true
        transport.close()
        waiter?.resume(returning: nil)
        waiter = nil
    }

    private func nextFrame() -> FakeFrame? {
        guard bytes.count >= 8 else { return nil }
        let total = 4 + Self.number(bytes[0..<4])
        let head = Self.number(bytes[4..<8])
        guard bytes.count >= total else { return nil }
        let header = try? JSON(parsing: Array(bytes[8..<(8 + head)]))
        let rest = Array(bytes[(8 + head)..<total])
        bytes.removeFirst(total)
        guard let header, let body = rest.isEmpty ? .null : try? JSON(parsing: rest) else {
            Issue.record("the module sent a frame that isn't JSON")
            return nil
        }
        return FakeFrame(header: header, body: body)
    }

    private static func length(_ count: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(count).bigEndian) { Array($0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
