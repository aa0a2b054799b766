internal import CNATS
internal import Glibc
internal import StrataCore
internal import StrataLoop

/// The connection to NATS, by libnats on a loop of ours, which is made again when it is lost.
///
/// Each other node has a synchronous subscription of its own, which is emptied on the loop's thread, so that messages
/// need no other thread, and a 503 is known by its node.
///
/// Each connection is a new one of libnats, whose own reconnection isn't used: libnats 3.4.1 on an event loop goes on
/// in the middle of the message at which the old connection ended, so that it takes what the new one brings for the
/// rest of it. It also locks the connection while it tries, which would hold up the loop.
final class NATSConnection {
    /// What a connection reports, on the loop's thread.
    protocol Handler: AnyObject {
        /// It is connected, and messages come.
        func natsConnected()
        func natsDisconnected()
        /// No server could be connected to; the connection tries on.
        func natsFailed(_ why: String)
        /// The connection tries no more, for example because the servers refuse this node's key.
        func natsGaveUp(_ why: String)
        /// A message of a subscription. The bytes are valid during the call.
        func natsReceived(_ index: Int, isPiece: Bool, _ bytes: UnsafeRawBufferPointer)
        /// Nobody took a message whose answers come to a subscription.
        func natsNoResponders(_ index: Int)
    }

    /// The bytes that libnats may hold for the server. It has no bound of its own.
    static let mostBuffered: Int32 = 1 << 20
    /// Between two attempts to connect, in milliseconds: it doubles.
    private static let shortestWait: UInt64 = 250
    private static let longestWait: UInt64 = 2_000
    /// How much longer than a second for each server an attempt may take, in milliseconds. libnats itself waits without
    /// end for a server that accepts a connection and then says nothing of TLS.
    private static let slack: UInt64 = 2_000
    /// How often in a row the servers must refuse the key before the link believes it. libnats 3.4.1 leaves out a
    /// signature that begins with a zero byte, so a server refuses one of 256 good connections. The next connection
    /// has another nonce, and so another signature.
    private static let mostRefusals = 3
    /// The attempts that may hang at a time, each with a thread of its own, before a new process is better.
    private static let mostHanging = 8

    unowned var handler: any Handler  // because the link owns both
    private let loop: Loop
    private let configuration: LinkConfiguration
    private let key: NodeKey?
    /// The seed in C's form. It is never freed, since an abandoned attempt may still sign with it.
    private let seed: UnsafeMutablePointer<CChar>?
    private let subjects: [String]
    private var wake: WakeUp!  // because it needs self
    private var timer: LoopTimer!  // because it needs self
    private var wait = NATSConnection.shortestWait
    /// How many attempts have been left to themselves since the last connection.
    private var hanging = 0
    /// How many attempts the servers have refused since the last connection.
    private var refusals = 0

    /// The events of the connection, or of the attempt to make one.
    private var news: NATSNews?
    private var connection: OpaquePointer?
    private var subscriptions: [OpaquePointer?] = []
    private var socket: Socket?
    /// Watches what is written with TLS; nil without TLS.
    private var watch: WriteWatch?
    private var isLost = false
    /// Whether messages may be published.
    private(set) var isUp = false
    private var isWatchedForWriting = false

    /// Makes a connection, without connecting.
    /// - Parameter subjects: one for each subscription.
    init(
        _ loop: Loop, _ configuration: LinkConfiguration, key: NodeKey?, subjects: [String], handler: any Handler
    ) throws(SystemError) {
        self.loop = loop
        self.configuration = configuration
        self.key = key
        self.handler = handler
        self.subjects = subjects
        seed = key.map { strdup($0.seed) }
        wake = try WakeUp(loop) { [unowned self] in self.takeNews() }
        timer = LoopTimer(loop) { [unowned self] in self.timePassed() }
    }

    /// Begins to connect.
    /// - Throws: if libnats refuses the options, as for certificates that it can't read.
    func connect() throws(LinkError) {
        precondition(news == nil, "a second connection was begun beside the first")
        let options = try NATSOptions.make(configuration, key: key, seed: seed)
        let news = NATSNews(loop, wake: wake)
        self.news = news
        timer.start(after: UInt64(configuration.servers.count) * 1_000 + Self.slack)
        NATSAttempt.start(options, telling: news)
    }

    /// Closes the connection, at once.
    func close() {
        disconnect()
        wake.close()
        timer.close()
    }

    /// The most bytes that the server takes in a message.
    var largestMessage: Int { Int(natsConnection_GetMaxPayload(connection)) }

    /// How many bytes libnats holds for the server.
    var buffered: Int32 { isUp ? natsConnection_Buffered(connection) : 0 }

    /// Whether libnats should be given more to publish.
    var hasRoom: Bool { isUp && buffered < Self.mostBuffered }

    /// The address of the server, for people.
    var server: String {
        guard isUp else { return "" }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            // because the capacity isn't 0
            let start = text.baseAddress!
            return natsConnection_GetConnectedUrl(connection, start, text.count) == NATS_OK
                ? String(cString: start) : ""
        }
    }

    /// Publishes a message, which may be lost.
    /// - Parameter reply: where the server says that nobody listens; nil for nowhere.
    func publish(_ subject: NATSSubject, reply: NATSSubject?, _ bytes: UnsafeRawBufferPointer) {
        guard isUp else { return }
        if let reply {
            natsConnection_PublishRequest(connection, subject.text, reply.text, bytes.baseAddress, Int32(bytes.count))
        } else {
            natsConnection_Publish(connection, subject.text, bytes.baseAddress, Int32(bytes.count))
        }
    }

    /// Gives the server what was published; called at the end of each round.
    func flush() {
        guard isUp, let news, let socket else { return }
        if news.wantsWriting { write() }
        let waits = news.wantsWriting
        guard waits != isWatchedForWriting else { return }
        isWatchedForWriting = waits
        socket.watch(waits ? [.readable, .writable] : .readable)
    }

    private func write() {
        guard let watch else { return natsConnection_ProcessWriteEvent(connection) }
        watch.during { natsConnection_ProcessWriteEvent(connection) }
    }

    // MARK: - What happens

    private func takeNews() {
        guard let new = news?.take() else { return }
        if new.isLost { isLost = true }
        if let descriptor = new.descriptor {
            // It fails if the system has no memory left; the connection is then lost.
            if configuration.usesTLS { watch = WriteWatch(descriptor) }
            socket = try? Socket(loop, descriptor: descriptor) { [unowned self] in self.happened($0) }
        }
        switch new.outcome {
        case .connected(let connection): connected(connection)
        case .failed(let status): failed(status)
        case nil: break
        }
        if isLost, connection != nil { lost() }
    }

    private func connected(_ connection: OpaquePointer) {
        self.connection = connection
        guard let socket, !isLost else {
            isLost = true
            return
        }
        timer.stop()
        wait = Self.shortestWait
        hanging = 0
        refusals = 0
        isUp = true
        for subject in subjects {
            var subscription: OpaquePointer?
            natsConnection_SubscribeSync(&subscription, connection, subject)
            subscriptions.append(subscription)
        }
        socket.watch(.readable)
        handler.natsConnected()
    }

    private func failed(_ status: natsStatus) {
        disconnect()
        if status == NATS_CONNECTION_AUTH_FAILED {
            refusals += 1
            guard refusals < Self.mostRefusals else {
                return handler.natsGaveUp("NATS refuses this node's key: add the key to the server's users")
            }
        } else {
            handler.natsFailed(String(cString: natsStatus_GetText(status)))
        }
        tryLater()
    }

    private func lost() {
        let wasUp = isUp
        disconnect()
        if wasUp { handler.natsDisconnected() }
        tryLater()
    }

    private func tryLater() {
        timer.start(after: wait)
        wait = min(wait * 2, Self.longestWait)
    }

    private func timePassed() {
        guard news == nil else { return leaveAttempt() }
        do { try connect() } catch {
            handler.natsFailed("\(error)")
            tryLater()
        }
    }

    /// Leaves an attempt that hangs to itself.
    private func leaveAttempt() {
        disconnect()
        hanging += 1
        let why = "an attempt doesn't end: a server says nothing, or its name isn't looked up"
        guard hanging < Self.mostHanging else { return handler.natsGaveUp("NATS can't be reached: \(why)") }
        handler.natsFailed(why)
        tryLater()
    }

    private func disconnect() {
        isUp = false
        isLost = false
        isWatchedForWriting = false
        socket?.close()
        socket = nil
        watch = nil
        for subscription in subscriptions { natsSubscription_Destroy(subscription) }
        subscriptions = []
        if let connection { natsConnection_Destroy(connection) }
        connection = nil
        news?.abandon()
        news = nil
    }

    private func happened(_ event: Socket.Event) {
        guard isUp else { return }
        if event.contains(.writable) { write() }
        guard event.contains(.readable) else { return }
        natsConnection_ProcessReadEvent(connection)
        for index in subscriptions.indices { empty(index) }
    }

    /// Handles the messages that a subscription has. libnats has read at most one buffer.
    private func empty(_ index: Int) {
        var count: UInt64 = 0
        guard natsSubscription_QueuedMsgs(subscriptions[index], &count) == NATS_OK else { return }
        for _ in 0..<count {
            var message: OpaquePointer?
            switch natsSubscription_NextMsg(&message, subscriptions[index], 0) {
            case NATS_OK:
                let isPiece = NATSSubject.isOfPieces(natsMsg_GetSubject(message))
                let bytes = UnsafeRawBufferPointer(
                    start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message)))
                handler.natsReceived(index, isPiece: isPiece, bytes)
                natsMsg_Destroy(message)
            case NATS_NO_RESPONDERS: handler.natsNoResponders(index)
            default: return
            }
        }
    }
}
