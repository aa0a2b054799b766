import Glibc
import StrataCore
import StrataLoop

/// A broker that follows a test's orders. It takes the launcher's connection, records its calls,
/// and answers them with `{}`. It reports states as if modules had them.
final class FakeLaunchBroker {
    let path: String
    /// The launcher's calls, in order: the action and its body.
    private(set) var calls: [(action: String, body: JSON)] = []
    /// The events among the calls.
    private(set) var events: [(name: String, params: JSON)] = []
    /// Whether it answers events; if not, they never get an answer.
    var answersEvents = true
    /// The actions whose calls wait until this set no longer has them, such as `retire`: then a module's
    /// tearDown lasts that long.
    var held: Set<String> = [] {
        didSet {
            for action in oldValue.subtracting(held) {
                for id in heldCalls.removeValue(forKey: action) ?? [] { send(.reply, id, Array("{}".utf8)) { _ in } }
            }
        }
    }
    /// The answers of actions, by their names. All other actions answer `{}`.
    var told: [String: JSON] = [:]
    /// The number of connections so far.
    private(set) var sessions = 0

    private let loop: Loop
    private var listener: Listener?
    private var channel: FrameChannel?
    private var watchID: UInt64?
    private var nextID: UInt64 = 1
    private var answers: [UInt64: (Result<JSON, BusError>) -> Void] = [:]
    private var heldStates: [JSON] = []
    private var heldCalls: [String: [UInt64]] = [:]

    init(_ loop: Loop, path: String) throws {
        self.loop = loop
        self.path = path
        try listen()
    }

    func listen() throws {
        listener = try Listener(loop, path: path) { [unowned self] in self.accept($0) }
    }

    /// Ends everything, as if it were killed.
    func die() {
        listener?.close()
        listener = nil
        channel?.close()
        channel = nil
        watchID = nil
        answers = [:]
    }

    func close() { die() }

    /// Notifies the launcher of a module's state.
    func tell(_ module: String, _ state: String, pid: Int? = nil, reason: String? = nil) {
        var members: [JSON.Member] = [
            .init("module", .string(module)), .init("state", .string(state)),
            .init("pid", pid.map { .integer(Int64($0)) } ?? .null),
        ]
        if let reason { members.append(.init("reason", .string(reason))) }
        guard let watchID else { return heldStates.append(.object(members)) }
        send(.reply, watchID, JSON.object(members).encoded()) { $0.boolean("more", true) }
    }

    /// Calls the launcher.
    func ask(
        _ action: String, _ body: JSON = .object([]), from: String = "operator",
        onAnswer: @escaping (Result<JSON, BusError>) -> Void
    ) {
        let id = nextID
        nextID += 1
        answers[id] = onAnswer
        send(.call, id, body.encoded()) {
            $0.string("to", "launcher/\(action)")
            $0.string("from", from)
        }
    }

    /// Returns the last process that was vouched for under a name.
    func pid(of module: String) -> Int? {
        calls.last { $0.action == "vouch" && $0.body["module"]?.string == module }?.body["pid"]?.integer.map { Int($0) }
    }

    /// Returns the states that were reported for a module, in order.
    func reports(of module: String) -> [String] {
        calls.filter { $0.action == "moduleState" && $0.body["module"]?.string == module }
            .compactMap { $0.body["state"]?.string }
    }

    private func accept(_ socket: Socket) {
        sessions += 1
        let channel = FrameChannel(loop, socket: socket, limits: FrameLimits(frame: 1 << 20, header: 16 << 10))
        channel.onFrame = { [unowned self] header, body in self.received(header, body) }
        self.channel = channel
    }

    private func received(_ header: borrowing Header, _ body: UnsafeRawBufferPointer) {
        let json = body.isEmpty ? JSON.null : (try? JSON(parsing: body)) ?? .null
        switch header.kind {
        case .call:
            let action = String(header.to.text.dropFirst("bus/".count))
            calls.append((action, json))
            if action == "emit" {
                events.append((header.name.text, json))
                guard answersEvents else { return }
            }
            if action == "watch" {
                watchID = header.id
                let held = heldStates
                heldStates = []
                for state in held { send(.reply, header.id, state.encoded()) { $0.boolean("more", true) } }
            } else if held.contains(action) {
                heldCalls[action, default: []].append(header.id)
            } else {
                send(.reply, header.id, (told[action] ?? [:]).encoded()) { _ in }
            }
        case .reply: answers.removeValue(forKey: header.id)?(.success(json))
        case .error:
            let error = BusError(ErrorCode(header.code.text), header.message.text)
            answers.removeValue(forKey: header.id)?(.failure(error))
        case .unknown, .open, .cancel, .credit, .broadcast, .report, .notice: break
        }
    }

    private func send(_ kind: Header.Kind, _ id: UInt64, _ body: [UInt8], _ more: (inout HeaderWriter) -> Void) {
        body.withUnsafeBytes { bytes in
            channel?.send(kind, room: 256, body: bytes) { writer in
                writer.integer("id", id)
                more(&writer)
            }
        }
    }
}
