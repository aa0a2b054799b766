public import StrataCore
import StrataLoop

/// Keeps a client connected: tries until the bus is there, and again where the connection
/// ends. Says when it stands, and when it is gone.
///
/// Lives on the client's loop.
public final class BusLink {
    /// Between two tries, in milliseconds: at first, and at most.
    private static let pace: (first: UInt64, most: UInt64) = (2, 50)

    /// hello was answered; how long the broker was away, in milliseconds, nil the first time.
    public var onUp: (UInt64?) -> Void = { _ in }
    /// The connection ended after `onUp`, and what the broker said last.
    public var onDown: (String) -> Void = { _ in }
    /// hello was refused for good.
    public var onRefused: (BusError) -> Void = { _ in }

    /// Its `onEnd` is the link's.
    public let client: BusClient
    private let loop: Loop
    private var timer: LoopTimer?
    private var delay = BusLink.pace.first
    private var presence: BusPresence

    /// Connects to nothing yet.
    /// - Parameter client: connected by nobody else.
    public init(_ client: BusClient) {
        (self.client, loop) = (client, client.loop)
        presence = BusPresence(at: loop.now)
        timer = LoopTimer(loop) { [unowned self] in self.attempt() }
        client.onEnd = { [unowned self] in self.ended($0) }
    }

    /// Whether hello was answered, and the connection stands.
    public var isUp: Bool { presence.isUp }

    /// How long there has been no connection, in milliseconds; 0 where it stands.
    public var absence: UInt64 { presence.absence(at: loop.now) }

    /// The absence is counted anew: the broker was replaced.
    public func waitAnew() { presence.waitAnew(at: loop.now) }

    /// Tries until it succeeds or `close` is called; at once, and ever slower.
    public func connect() {
        guard !client.isConnected else { return }
        delay = Self.pace.first
        timer?.start(after: 0)
    }

    /// Ends the connection for good; nothing is called any more.
    public func close() {
        timer?.close()
        timer = nil
        _ = presence.went(at: loop.now)
        client.close()
    }

    /// Drops the connection of a broker that is known to be dead.
    public func drop() {
        guard client.isConnected else { return }
        let wasUp = presence.went(at: loop.now)
        client.close()
        if wasUp { onDown("the broker has ended") }
    }

    /// Sends a request; fails with `unavailable` at once where there is no connection.
    public func send(_ request: Request, onAnswer: @escaping (BusClient.Answer) -> Void) {
        guard isUp else {
            return onAnswer(.failure(BusError(.unavailable, "there is no connection to the broker")))
        }
        client.send(request, onAnswer: onAnswer)
    }

    private func attempt() {
        guard !client.isConnected else { return }
        do throws(SystemError) { try client.connect { [unowned self] in self.helloWasAnswered($0) } } catch { again() }
    }

    private func helloWasAnswered(_ answer: Result<Welcome, ClientError>) {
        guard timer != nil else { return }
        switch answer {
        case .success:
            delay = Self.pace.first
            onUp(presence.came(at: loop.now))
        case .failure(.refused(let error)):
            // After a broker's restart all is new; a connection that broke may
            // stand for a moment longer there. Anything else won't mend.
            let mends: [ErrorCode] = [.died, .overloaded, .shuttingDown, .cancelled]
            let isOwnOld = presence.wasUp && error.code == .nameTaken
            if !mends.contains(error.code), !isOwnOld { onRefused(error) }
        // Its end says so too; what answers something else is no bus yet.
        case .failure:
            guard client.isConnected else { return }
            client.close()
            again()
        }
    }

    private func ended(_ reason: String) {
        if presence.went(at: loop.now) { onDown(reason) }
        again()
    }

    private func again() {
        timer?.start(after: delay)
        delay = min(delay * 2, Self.pace.most)
    }
}
