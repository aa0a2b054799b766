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
    private var looks: SharedQuestion<BusSnapshot>?
    private var pings: SharedQuestion<Bool>?

    init(_ loop: Loop, path: String, node: String?, feed: LiveFeed, options: Options) {
        (self.loop, self.feed, self.options) = (loop, feed, options)
        client = BusClient(loop, path: path, runtime: "strata-web")
        client.node = node
        logs = LogTails(client)
    }

    /// Connects, and begins the feeds. Called once, on the loop's thread.
    func begin() {
        retry = LoopTimer(loop) { [unowned self] in connect() }
        looks = SharedQuestion(loop) { [client] onAnswer in
            client.look(measuring: true) { onAnswer(try? $0.get()) }
        }
        pings = SharedQuestion(loop) { [client] onAnswer in
            client.ask("bus/ping") { answer in if case .success = answer { onAnswer(true) } else { onAnswer(nil) } }
        }
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
                    looks?.connected()
                    pings?.connected()
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

    /// Looks at the bus and at what modules measure, for an exporter. Nil if there is no bus that answers.
    func look(_ onDone: @escaping @Sendable (BusSnapshot?) -> Void) {
        looks?.ask(isConnected: absence == nil, onDone)
        if !client.isConnected { connect() }
    }

    /// Says why the bus can't be used; nil if it answers.
    func check(_ onDone: @escaping @Sendable (String?) -> Void) {
        if let absence { return onDone(absence) }
        pings?.ask(isConnected: true) { onDone($0 == nil ? "the bus doesn't answer" : nil) }
    }
}
