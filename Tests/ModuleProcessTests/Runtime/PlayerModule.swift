public import Strata

// The example of the design, complete: what the author of a module writes.

public enum Player: Interface {
    public static let name = "Player"

    /// Starts a track, and replies with its length in seconds.
    public struct Play: Action {
        public static let name = action("play")
        public typealias Reply = Double
        public var track: Int
    }

    public struct Stop: Action {
        public static let name = action("stop")
    }

    /// The volume, a bare number on the wire.
    public struct SetVolume: Action, RawRepresentable {
        public static let name = action("setVolume")
        public typealias Reply = Int
        public var rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// Counts for as long as a caller listens.
    public struct Positions: StreamingAction {
        public static let name = action("positions")
        public typealias Element = Int
        public var most: Int
    }

    public struct Started: Broadcast {
        public static let name = "player.started"
        public var track: Int
        public var object: String? { "track-\(track)" }
    }

    public struct Broken: Report {
        public static let name = "player.broken"
        public var reason: String
    }
}

public enum Library: Interface {
    public static let name = "Library"

    public struct Find: Action {
        public static let name = action("find")
        public typealias Reply = Track
        public var id: Int
    }

    public struct Track: Codable, Sendable {
        public var id: Int
        public var length: Double
    }

    public struct TrackRemoved: Broadcast {
        public static let name = "library.track-removed"
        public var id: Int
    }
}

final class PlayerModule: Module {
    static let name = "Player"
    private let bus: Bus
    private var current: Int?
    private(set) var steps: [String] = []
    private(set) var context: Context?
    private(set) var removed: [Int] = []
    private(set) var wasCancelled = false
    /// The error that its `retiring` throws.
    var problem: (any Error)?

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.action(Player.Play.self, perform: play)
        exports.action(Player.Stop.self) { _ in
            self.current = nil
            self.steps.append("stop")
        }
        exports.action(Player.SetVolume.self, blocking: "mixer") { $0.rawValue + 1 }
        exports.action("Player/echo") { call in try call.params }
        exports.bytes("Player/bytes") { call in call.body }
        exports.action("Player/who", auth: true) { call in
            ["from": .string(call.from), "remaining": .bool(call.deadline != nil)]
        }
        exports.action("Player/fail", perform: fail)
        exports.action("Player/wait", perform: wait)
        exports.action("Player/tell") { call in
            try self.bus.broadcast(Player.Started(track: 7))
            let observers = try await self.bus.report(Player.Broken(reason: "dust"), to: "Log")
            return .integer(Int64(observers))
        }
        exports.stream(Player.Positions.self) { request in
            AsyncStream { continuation in
                for position in 0..<request.most { continuation.yield(position) }
                continuation.finish()
            }
        }
        exports.url("player.example", "/play/:track", to: Player.Play.self)
        exports.observe(Library.TrackRemoved.self) { self.removed.append($0.id) }
        exports.observe("log.rotated", object: "main", keep: .latest) { delivery in
            if delivery.missed > 0 { throw ModuleError("Player.behind", "\(delivery.missed) missed") }
        }
        exports.event("app.reload") { _ in self.steps.append("reload") }
        exports.event(asking: "app.terminate") { call in try call.params["now"]?.bool ?? false }
        exports.requires(Library.self)
        exports.broadcasts(Player.Started.self)
        exports.reports(Player.Broken.self, to: "Log")
    }

    func setUp(_ context: Context) async throws {
        self.context = context
        steps.append("setUp")
    }
    func initialize() async throws { steps.append("initialize") }
    func didStart() async throws { steps.append("didStart") }
    func retiring() async throws {
        steps.append("retiring")
        if let problem { throw problem }
    }
    func tearDown() async throws { steps.append("tearDown") }
    func resumed() async throws { steps.append("resumed") }

    private func play(_ request: Player.Play) async throws -> Double {
        let track = try await bus.call(Library.Find(id: request.track))
        current = track.id
        return track.length
    }

    private func fail(_ call: Call) async throws -> JSON {
        switch try call.params["how"]?.string {
        case "own": throw ModuleError("Player.no-disc", "put one in", body: ["slot": 2])
        case "request": return try await bus.call("Nobody/there")
        case "other": throw Unexpected()
        default: throw ModuleError.badParams("`how` is none of own, request and other")
        }
    }

    private func wait(_ call: Call) async throws -> JSON {
        do {
            try await sleep(milliseconds: 60_000)
        } catch {
            wasCancelled = true
            throw error
        }
        return nil
    }

    struct Unexpected: Error, CustomStringConvertible {
        var description: String { "the motor is stuck" }
    }
}
