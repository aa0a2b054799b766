import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import StrataOperator

/// The server of the live view: the page, its feeds and its answers.
public struct PageServer: Sendable {
    /// What the server is asked to do.
    public struct Settings: Sendable {
        /// The path of the bus's socket.
        public var socket: String
        public var address = ListenAddress.anyPort
        /// Further names that a request may give as its host, as behind a proxy.
        public var hosts: [String] = []
        /// The manifest of the app, for the matrix and the picture; nil if it isn't known.
        public var manifest: String?
        /// Whether the page may call, start, stop and restart.
        public var control = false
        /// Whether the page shows the bodies of frames.
        public var bodies = false

        public init(socket: String) { self.socket = socket }
    }

    /// The most connections at a time. Others wait until one ends.
    static let mostConnections = 128
    /// The longest head of a request, in bytes.
    static let longestHead = 16 << 10
    /// How long a connection may be silent.
    static let patience = TimeAmount.seconds(30)

    /// The 128-bit token of this server, in hexadecimal.
    public let token: String
    let settings: Settings
    let bus: BusThread
    let feed = LiveFeed()

    /// Connects to the bus, now or when it comes.
    /// - Throws: if the kernel gives no event loop.
    public init(_ settings: Settings) throws {
        self.settings = settings
        var generator = SystemRandomNumberGenerator()
        token = (0..<2).map { _ in
            let hex = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - hex.count) + hex
        }.joined()
        let options = BusSession.Options(
            bodies: settings.bodies, control: settings.control, manifest: settings.manifest)
        bus = try BusThread(path: settings.socket, node: nil, feed: feed, options: options)
    }

    /// Serves until SIGINT or SIGTERM.
    /// - Parameters:
    ///   - pusher: what pushes spans meanwhile; nil for nothing.
    ///   - onStart: gets the address of the page, with the token.
    public func run(
        pushing pusher: SpanPusher? = nil, onStart: @escaping @Sendable (String) -> Void
    ) async throws {
        let (address, token) = (settings.address, token)
        var application = Self.application(router: router(), address: address) { channel in
            let place = address.text(port: channel.localAddress?.port)
            onStart(address.hostName == nil ? "\(place), token \(token)" : "\(place)/#token=\(token)")
        }
        if let pusher { application.addServices(pusher) }
        try await Self.run(application, at: address)
    }

    /// Runs an application until SIGINT or SIGTERM.
    static func run(_ application: some ApplicationProtocol, at address: ListenAddress) async throws {
        let file = SocketFile(address)
        try file?.prepare()
        do {
            try await application.runService()
        } catch let error as IOError {
            throw SocketFile.Taken(description: "can't listen on \(address.text(port: nil)): \(error)")
        }
        file?.remove()
    }

    /// Returns an application with the bounds that hold for every server here.
    static func application(
        router: Router<PageContext>, address: ListenAddress, onStart: @escaping @Sendable (any Channel) -> Void
    ) -> Application<RouterResponder<PageContext>> {
        var logger = Logger(label: "strata-web")
        logger.logLevel = .error
        return Application(
            router: router,
            server: .http1(
                configuration: .init(
                    idleTimeout: patience,
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: longestHead, maxHeaderListSize: longestHead, maxHeaderFieldCount: 100))),
            configuration: .init(
                address: address.bindAddress,
                availableConnectionsDelegate: MaximumAvailableConnections(mostConnections)),
            onServerRunning: { onStart($0) }, logger: logger)
    }

    func router() -> Router<PageContext> {
        let router = Router(context: PageContext.self)
        let rules = AccessRules(address: settings.address, names: settings.hosts, token: token)
        router.add(middleware: AccessMiddleware(rules: rules))
        Assets.add(to: router)
        HealthRoutes(bus: bus).addHealth(to: router)
        let guarded = router.group().add(middleware: TokenMiddleware(rules: rules))
        HealthRoutes(bus: bus).addMetrics(to: guarded)
        FeedRoutes(bus: bus, feed: feed).add(to: guarded)
        DetailRoutes(bus: bus).add(to: guarded)
        RuleRoutes(manifest: settings.manifest).add(to: guarded)
        ControlRoutes(bus: bus, isAllowed: settings.control).add(to: guarded)
        return router
    }
}
