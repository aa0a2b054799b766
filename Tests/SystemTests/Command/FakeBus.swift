import Foundation
import StrataCore
import StrataLoop
import Synchronization

/// A broker without rules, on a socket and a thread of its own. It answers hello, and everything
/// else as a test's script says.
final class FakeBus: Sendable {
    /// A request as it arrived.
    struct Asked: Sendable {
        var kind: Header.Kind
        var to: String
        var name: String
        var object: String
        var level: String
        var url: String
        /// The node that the request is for; empty for none.
        var node: String
        /// Nil if it was not given.
        var deadline: Int64?
        var credit: UInt64?
        var meta: String
        /// The trace as JSON; empty if it was not given.
        var trace: String
        var body: String
    }

    /// A part of the answer to a request.
    enum Said: Sendable {
        case reply(String)
        case partial(String)
        case error(String, String, body: String = "", root: String = "")
        /// An error without an id.
        case farewell(String, String)
        /// The connection ends.
        case close
        /// The socket ends, too.
        case end
    }

    typealias Script = @Sendable (Asked) -> [Said]

    let path: String
    private let wakeUp: Mutex<WakeUp?>
    private let done = DispatchSemaphore(value: 0)
    private let log = Mutex<[Asked]>([])

    /// The requests so far, without hello.
    var asked: [Asked] { log.withLock { $0 } }

    init(
        at path: String, schemes: [String] = ["app"], features: [String] = [], script: @escaping Script
    ) {
        self.path = path
        wakeUp = Mutex(nil)
        let ready = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            do {
                let loop = try Loop()
                let service = try FakeService(loop, path: path, schemes: schemes, features: features) { asked in
                    self.log.withLock { $0.append(asked) }
                    return script(asked)
                }
                let wake = try WakeUp(loop) { loop.stop() }
                wakeUp.withLock { $0 = wake }
                ready.signal()
                loop.run()
                wakeUp.withLock { $0 = nil }
                wake.close()
                service.close()
                loop.runOnce()
            } catch {
                fatalError("no fake bus at \(path): \(error)")
            }
            done.signal()
        }
        ready.wait()
    }

    /// Ends it, and waits until its socket is gone.
    func close() {
        wakeUp.withLock { $0?.send() }
        done.wait()
    }
}

/// The part that lives on the fake bus's loop.
private final class FakeService {
    private let loop: Loop
    private let schemes: [String]
    private let features: [String]
    private let answer: (FakeBus.Asked) -> [FakeBus.Said]
    private var listener: Listener?
    private var channels: [FrameChannel] = []

    init(
        _ loop: Loop, path: String, schemes: [String], features: [String],
        answer: @escaping (FakeBus.Asked) -> [FakeBus.Said]
    ) throws {
        self.loop = loop
        self.schemes = schemes
        self.features = features
        self.answer = answer
        listener = try Listener(loop, path: path) { [unowned self] in accept($0) }
    }

    func close() {
        listener?.close()
        listener = nil
        channels.forEach { $0.close() }
    }

    private func accept(_ socket: Socket) {
        let channel = FrameChannel(loop, socket: socket, limits: FrameLimits(frame: 16 << 20, header: 16 << 10))
        channel.onFrame = { [unowned self, unowned channel] header, body in
            received(header, body, channel)
        }
        channels.append(channel)
    }

    private func received(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, _ channel: FrameChannel) {
        let id = header.id
        let asked = FakeBus.Asked(
            kind: header.kind, to: header.to.text, name: header.name.text, object: header.object.text,
            level: header.level.text,
            url: header.url.text, node: header.node.text,
            deadline: header.members.contains(.deadline) ? header.deadline : nil,
            credit: header.members.contains(.credit) ? header.credit : nil,
            meta: header.meta.text, trace: header.trace.text, body: body.text)
        if asked.to == "bus/hello" {
            let known = schemes.map { "\"\($0)\"" }.joined(separator: ",")
            let abilities = features.map { "\"\($0)\"" }.joined(separator: ",")
            say(
                .reply(
                    """
                    {"app":"fake","levels":["basic","middle","topout"],"schemes":[\(known)],\
                    "limits":{"frame":16777216,"header":16384},"features":[\(abilities)]}
                    """), id, channel)
            return
        }
        if header.kind == .credit { return }
        for said in answer(asked) { say(said, id, channel) }
    }

    private func say(_ said: FakeBus.Said, _ id: UInt64, _ channel: FrameChannel) {
        switch said {
        case .reply(let body): send(.reply, id, body, channel)
        case .partial(let body): send(.reply, id, body, channel) { $0.boolean("more", true) }
        case .error(let code, let message, let body, let root):
            send(.error, id, body, channel) { writer in
                writer.string("code", code)
                writer.string("message", message)
                if !root.isEmpty { Array(root.utf8).withUnsafeBytes { writer.raw("root", $0) } }
            }
        case .farewell(let code, let message):
            send(.error, nil, "", channel) {
                $0.string("code", code)
                $0.string("message", message)
            }
        case .close:
            channel.flush()
            channel.close()
        case .end:
            channel.flush()
            close()
        }
    }

    private func send(
        _ kind: Header.Kind, _ id: UInt64?, _ body: String, _ channel: FrameChannel,
        _ write: (inout HeaderWriter) -> Void = { _ in }
    ) {
        Array(body.utf8).withUnsafeBytes { bytes in
            channel.send(kind, room: 4_096, body: bytes) { writer in
                if let id { writer.integer("id", id) }
                write(&writer)
            }
        }
    }
}
