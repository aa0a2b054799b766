import Glibc
import StrataCore

/// The launcher's connection to the broker: tries until it stands, says hello,
/// and says when it is gone. It knows nothing of modules.
final class BusLink {
    /// Between two tries, in milliseconds: at first, and at most.
    private static let pace: (first: UInt64, most: UInt64) = (2, 50)
    /// Until hello tells those of the bus.
    private static let firstLimits = FrameLimits(frame: 16 << 20, header: 16 << 10)

    /// hello was answered; how long the broker was away, in milliseconds, nil the first time.
    var onUp: (UInt64?) -> Void = { _ in }
    /// The connection ended after `onUp`, and what the broker said last.
    var onDown: (String) -> Void = { _ in }
    /// hello was refused for good.
    var onRefused: (BusError) -> Void = { _ in }
    var onCall: (RequestChannel.Incoming) -> Void = { _ in }
    var onCancel: (UInt64) -> Void = { _ in }
    var onCredit: (UInt64, UInt64) -> Void = { _, _ in }

    private let loop: Loop
    private let path: String
    private var channel: RequestChannel?
    private var timer: LoopTimer?
    private var delay = BusLink.pace.first
    private var presence: BusPresence
    private var limits = BusLink.firstLimits
    private var isEnded = false

    init(_ loop: Loop, path: String) {
        self.loop = loop
        self.path = path
        presence = BusPresence(at: loop.now)
        timer = LoopTimer(loop) { [unowned self] in self.attempt() }
    }

    var isUp: Bool { presence.isUp }

    /// How long there has been no connection, in milliseconds; 0 where it stands.
    var absence: UInt64 { presence.absence(at: loop.now) }

    /// The absence is counted anew: the broker was replaced.
    func waitAnew() { presence.waitAnew(at: loop.now) }

    /// Tries until it succeeds or `close` is called; at once, and ever slower.
    func connect() {
        guard channel == nil, !isEnded else { return }
        delay = Self.pace.first
        timer?.start(after: 0)
    }

    /// Ends the connection; nothing is called any more.
    func close() {
        isEnded = true
        timer?.close()
        timer = nil
        _ = presence.went(at: loop.now)
        channel?.close()
        channel = nil
    }

    /// Drops the connection of a broker that is known to be dead.
    func drop() {
        guard let channel else { return }
        let wasUp = presence.went(at: loop.now)
        self.channel = nil
        channel.onEnd = { _, _ in }
        channel.close()
        if wasUp { onDown("the broker has ended") }
    }

    /// A call to `bus/ACTION`; fails at once where there is no connection.
    func call(
        _ action: String, _ body: JSON = .object([]), deadline: UInt64? = nil,
        onAnswer: @escaping (RequestChannel.Answer) -> Void = { _ in }
    ) {
        guard let channel, isUp else {
            onAnswer(.failure(BusError(.unavailable, "there is no connection to the broker")))
            return
        }
        channel.request(to: "bus/\(action)", body: body.encoded(), deadline: deadline, onAnswer: onAnswer)
    }

    /// Emits an event; fails at once where there is no connection.
    /// - Parameter deadline: for each module's answer, in milliseconds.
    func emit(
        _ name: String, _ params: JSON, deadline: UInt64, onAnswer: @escaping (RequestChannel.Answer) -> Void
    ) {
        guard let channel, isUp else {
            onAnswer(.failure(BusError(.unavailable, "there is no connection to the broker")))
            return
        }
        channel.request(
            to: "bus/emit", body: params.encoded(), deadline: deadline, members: [("name", name)], onAnswer: onAnswer)
    }

    /// Asks for the stream of all modules' states, for as long as the connection
    /// stands.
    func watch(_ onState: @escaping ([UInt8]) -> Void) {
        channel?.request(to: "bus/watch", deadline: 0, credit: 64, onPartial: onState, onAnswer: { _ in })
    }

    /// So many bytes of an answer fit into a frame for certain, beside a header.
    var mostBody: Int { Int(limits.frame) - 4 - 256 }

    func reply(_ id: UInt64, _ body: [UInt8] = Array("{}".utf8)) { channel?.reply(id, body) }
    func replyPartially(_ id: UInt64, _ body: [UInt8]) { channel?.replyPartially(id, body) }
    func fail(_ id: UInt64, _ error: BusError) { channel?.fail(id, error) }
    func flush() { channel?.flush() }
    /// Bytes that the broker hasn't read yet.
    var unsent: Int { channel?.unsent ?? 0 }

    private func attempt() {
        guard channel == nil, !isEnded else { return }
        guard let frames = try? FrameChannel(loop, path: path, limits: Self.firstLimits)
        else { return again() }
        let channel = RequestChannel(frames)
        self.channel = channel
        channel.onCall = { [unowned self] in self.onCall($0) }
        channel.onCancel = { [unowned self] in self.onCancel($0) }
        channel.onCredit = { [unowned self] in self.onCredit($0, $1) }
        channel.onEnd = { [unowned self] ending, farewell in self.ended(farewell?.message ?? "\(ending)") }
        channel.request(to: "bus/hello", body: Array(#"{"protocol":1,"role":"launcher"}"#.utf8)) {
            [unowned self] answer in
            self.helloWasAnswered(answer)
        }
    }

    private func helloWasAnswered(_ answer: RequestChannel.Answer) {
        guard !isEnded else { return }
        switch answer {
        case .success(let body):
            if let told = (try? JSON(parsing: body))?["limits"], let frame = told["frame"]?.integer,
                let header = told["header"]?.integer
            {
                limits = FrameLimits(frame: UInt32(clamping: frame), header: UInt32(clamping: header))
                channel?.setLimits(limits)
            }
            delay = Self.pace.first
            onUp(presence.came(at: loop.now))
        case .failure(let error):
            // After a broker's restart all is new; a connection that broke may
            // stand for a moment longer there. Anything else won't mend.
            let mends: [ErrorCode] = [.died, .overloaded, .shuttingDown, .cancelled]
            let isOwnOld = presence.wasUp && error.code == .nameTaken
            if !mends.contains(error.code), !isOwnOld { onRefused(error) }
        }
    }

    private func ended(_ reason: String) {
        let wasUp = presence.went(at: loop.now)
        channel = nil
        if wasUp { onDown(reason) }
        again()
    }

    private func again() {
        guard !isEnded else { return }
        timer?.start(after: delay)
        delay = min(delay * 2, Self.pace.most)
    }
}
