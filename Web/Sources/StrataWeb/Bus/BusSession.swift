import StrataOperator
import StrataPictures

/// The connection to the bus, on the bus's thread. It connects again for as long as the program runs.
final class BusSession {
    /// What the feeds ask for.
    struct Options: Sendable {
        /// Whether frames come with their bodies.
        var bodies = false
        /// Whether tabs may call, start, stop and restart.
        var control = false
        /// The manifest, if it is known.
        var manifest: String?
    }

    /// The longest pause between two attempts to connect, in milliseconds.
    private static let longestPause: UInt64 = 1_000
    /// How long a look at the bus may take, in milliseconds.
    private static let patience: UInt64 = 2_000

    let loop: Loop
    let client: BusClient
    let feed: LiveFeed
    let options: Options
    /// Why there is no connection; nil while there is one.
    private(set) var absence: String? = "not connected yet"
    private var pause: UInt64 = 10
    private var retry: LoopTimer?
    let logs: LogTails
    private var feeds: BusFeeds?
    /// The look at the bus that is under way, and who waits for it.
    private var lookers: [@Sendable (BusSnapshot?) -> Void] = []
    private var lookTimer: LoopTimer?

    init(_ loop: Loop, path: String, node: String?, feed: LiveFeed, options: Options) {
        (self.loop, self.feed, self.options) = (loop, feed, options)
        client = BusClient(loop, path: path, runtime: "strata-web")
        client.node = node
        logs = LogTails(client)
    }

    /// Connects, and begins the feeds. Called once, on the loop's thread.
    func begin() {
        retry = LoopTimer(loop) { [unowned self] in connect() }
        lookTimer = LoopTimer(loop) { [unowned self] in looked(nil) }
        client.onEnd = { [unowned self] in lost($0) }
        feeds = BusFeeds(self)
        connect()
    }

    private func connect() {
        retry?.stop()
        do {
            try client.connect { [unowned self] answer in
                switch answer {
                case .success:
                    (absence, pause) = (nil, 10)
                    feeds?.connected()
                    if !lookers.isEmpty { lookNow() }
                case .failure(let error):
                    client.close()
                    lost("\(error)")
                }
            }
        } catch {
            lost("the bus at \(client.path) can't be reached: \(error)")
        }
    }

    private func lost(_ reason: String) {
        absence = reason
        feeds?.disconnected(reason)
        loop.updateTime()
        retry?.start(after: pause)
        pause = min(pause * 2, Self.longestPause)
    }

    /// Begins the feeds if they rest, because a tab has come.
    func readerCame() { feeds?.readerCame() }

    /// The graph that the picture shows.
    var graph: AppGraph { feeds?.graph ?? AppGraph(app: "", levels: []) }

    /// Asks an action of the bus.
    func ask(_ to: String, _ onAnswer: @escaping (Result<JSON, ClientError>) -> Void) {
        client.ask(to, onAnswer: onAnswer)
    }

    /// Lets another node's bus answer what a closure sends; nil is the own one's.
    func asking(_ node: String?, _ body: () -> Void) {
        let own = client.node
        if let node { client.node = node }
        defer { client.node = own }
        body()
    }

    /// Looks at the bus and at what modules measure, for an exporter. Requests that come in the meantime
    /// share the look. A bus that is away has 2 s to come; nil if it doesn't.
    func look(_ onDone: @escaping @Sendable (BusSnapshot?) -> Void) {
        lookers.append(onDone)
        guard lookers.count == 1 else { return }
        loop.updateTime()
        lookTimer?.start(after: Self.patience)
        if absence == nil { lookNow() } else if !client.isConnected { connect() }
    }

    private func lookNow() {
        client.look(measuring: true) { [unowned self] answer in looked(try? answer.get()) }
    }

    private func looked(_ snapshot: BusSnapshot?) {
        lookTimer?.stop()
        let waiting = lookers
        lookers = []
        for onDone in waiting { onDone(snapshot) }
    }
}
