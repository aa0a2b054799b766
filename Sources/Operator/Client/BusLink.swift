public import StrataCore
import StrataLoop

/// Keeps a client connected. It tries until the bus is there, and again when the connection ends,
/// and reports when the connection comes up and goes down.
///
/// It lives on the client's loop.
public final class BusLink {
    /// The time between two attempts in milliseconds, at first and at most.
    private static let pace: (first: UInt64, most: UInt64) = (2, 50)

    /// Called when hello was answered, with how long the broker was away in milliseconds; nil the
    /// first time.
    public var onUp: (UInt64?) -> Void = { _ in }
    /// Called when the connection ends after `onUp`, with the broker's last message.
    public var onDown: (String) -> Void = { _ in }
    /// Called when hello was refused for good.
    public var onRefused: (BusError) -> Void = { _ in }

    /// The client; the link uses its `onEnd`.
    public let client: BusClient
    private let loop: Loop
    private var timer: LoopTimer?
    private var delay = BusLink.pace.first
    private var presence: BusPresence

    /// Makes a link without connecting it.
    /// - Parameter client: the client, which only this link connects.
    public init(_ client: BusClient) {
        (self.client, loop) = (client, client.loop)
        presence = BusPresence(at: loop.now)
        timer = LoopTimer(loop) { [unowned self] in self.attempt() }
        client.onEnd = { [unowned self] in self.ended($0) }
    }

    /// Whether hello was answered and the connection still exists.
    public var isUp: Bool { presence.isUp }

    /// How long there has been no connection, in milliseconds; 0 if there is one.
    public var absence: UInt64 { presence.absence(at: loop.now) }

    /// Restarts the time of absence, because the broker was replaced.
    public func waitAnew() { presence.waitAnew(at: loop.now) }

    /// Tries to connect at once, then at growing intervals, until it succeeds or `close` is called.
    public func connect() {
        guard !client.isConnected else { return }
        delay = Self.pace.first
        timer?.start(after: 0)
    }

    /// Closes the connection for good; no more callbacks are made.
    public func close() {
        timer?.close()
        timer = nil
        _ = presence.went(at: loop.now)
        client.close()
    }

    /// Drops the connection to a broker that is known to be dead.
    public func drop() {
        guard client.isConnected else { return }
        let wasUp = presence.went(at: loop.now)
        client.close()
        if wasUp { onDown("the broker has ended") }
    }

    /// Sends a request; without a connection, it fails with `unavailable` at once.
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
            // After a broker's restart these errors pass. `nameTaken` passes too, as a broken
            // connection may linger in the broker for a moment. Any other error is permanent.
            let mends: [ErrorCode] = [.died, .overloaded, .shuttingDown, .cancelled]
            let isOwnOld = presence.wasUp && error.code == .nameTaken
            if !mends.contains(error.code), !isOwnOld { onRefused(error) }
        // A lost connection is handled in `ended`. A program that doesn't answer like a bus is
        // tried again.
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
