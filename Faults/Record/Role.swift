/// The role of one of the app's processes: its row in the manifest, and its behaviour.
public struct Role: Sendable {
    public enum Start: String, Sendable {
        case eager, async, onDemand = "on-demand"
    }

    /// The nodes on which it has a process, by their index. See `RolePlacement`.
    public enum Home: Sendable {
        case one(Int)
        case some([Int])
        /// One process on each node, which serves that node alone.
        case all
    }

    /// The program that plays it.
    public enum Player: Sendable {
        case runtime, raw
        /// Roles without a row: a peer that comes and goes, an operator's tool, and the driver.
        case guest, tool, driver
    }

    public let name: String
    /// The rank of its level; 3 for a role without a level.
    public let rank: Int
    public var player = Player.runtime
    public var start = Start.eager
    public var idle: String?
    public var restart = "on-failure"
    public var overlaps = false
    public var ping: String?
    /// The number of broadcasts per second, and the bytes of each; 0 for none.
    public var broadcasts = 0
    public var bytes = 0
    /// The roles whose broadcasts it observes, with `keep: all` and with `keep: latest`.
    public var keepsAll: [String] = []
    public var keepsLatest: [String] = []
    /// The roles whose broadcasts its replicas share.
    public var shares: [String] = []
    /// Whether it observes the broadcasts of all roles, by a pattern.
    public var observesAll = false
    /// Whether it retains each of its broadcasts. Only in an app of one machine: observers on other
    /// nodes may get a retained notice twice.
    public var retains = false
    /// The least and the most replicas; nil for a role with one process. In an app of several nodes
    /// each role has one.
    public var replicas: ClosedRange<Int>?
    public var hasInstances = false
    public var home = Home.all

    init(_ name: String, _ rank: Int, _ set: (inout Role) -> Void = { _ in }) {
        self.name = name
        self.rank = rank
        set(&self)
    }

    /// The name of its broadcasts.
    public var news: String { "\(name).news" }
    /// The interface of which other roles create instances.
    public var instances: String { "\(name)Seat" }
    public var hasRow: Bool { player == .runtime || player == .raw }
}

extension Role {
    public static let levels = ["basic", "middle", "topout"]
    /// The adapter's names for the interface of `Press`, and for its broadcasts.
    public static let adapter = "NotePress"
    public static let adaptedNews = "note.pressed"
    /// The pattern of all broadcasts.
    public static let allNews = "*.news"
    /// The number of keys that requests to replicas have.
    public static let keys = 24

    /// All roles. A role's index here is its number in the logs.
    public static let all: [Role] = [
        Role("Store", 0) {
            $0.home = .one(0)
            $0.broadcasts = 40
            $0.retains = true
        },
        Role("Clock", 0) {
            $0.home = .one(1)
            $0.restart = "always"
            $0.broadcasts = 300
        },
        Role("Depot", 0) {
            $0.home = .one(2)
            $0.overlaps = true
            $0.broadcasts = 150
            $0.bytes = 4_096
        },
        Role("Guard", 0),
        Role("Ledger", 0) {
            $0.home = .one(1)
            $0.start = .async
            $0.broadcasts = 20
            $0.retains = true
        },
        Role("Cellar", 0) {
            $0.home = .one(2)
            $0.start = .onDemand
            $0.idle = "400ms"
        },
        Role("Mill", 1) {
            $0.home = .one(0)
            $0.overlaps = true
            $0.broadcasts = 100
            $0.keepsAll = ["Clock"]
        },
        Role("Press", 1) {
            $0.home = .one(2)
            $0.broadcasts = 60
            $0.keepsLatest = ["Clock", "Depot"]
        },
        Role("Loom", 1) {
            $0.home = .one(1)
            $0.ping = "700ms"
            $0.keepsAll = ["Depot"]
        },
        Role("Kiln", 1) {
            $0.home = .one(1)
            $0.start = .onDemand
            $0.idle = "300ms"
            $0.keepsAll = ["Store"]
        },
        Role("Forge", 1) {
            $0.home = .some([0, 1])
            $0.start = .async
            $0.restart = "always"
        },
        Role("Cart", 1) { $0.hasInstances = true },
        Role("Wheel", 1) {
            $0.home = .one(1)
            $0.overlaps = true
            $0.hasInstances = true
            $0.keepsLatest = ["Ledger"]
            $0.observesAll = true
        },
        Role("Pool", 1) {
            $0.overlaps = true
            $0.hasInstances = true
            $0.keepsAll = ["Ledger"]
            $0.shares = ["Clock", "Store"]
            $0.replicas = 2...5
        },
        Role("Shop", 2) {
            $0.home = .one(2)
            $0.keepsAll = ["Mill", adapter]
            $0.observesAll = true
        },
        Role("Desk", 2) {
            $0.home = .one(0)
            $0.overlaps = true
            $0.keepsAll = ["Depot", "Mill", "Clock"]
            $0.keepsLatest = ["Press"]
        },
        Role("Bell", 2) {
            $0.home = .one(1)
            $0.keepsAll = ["Store", "Clock", "Depot", "Ledger", "Mill", "Press"]
        },
        Role("Gate", 2) {
            $0.home = .one(2)
            $0.ping = "700ms"
            $0.keepsLatest = ["Store", "Clock", "Depot", "Ledger", "Mill", "Press"]
        },
        Role("Yard", 2) {
            $0.home = .one(0)
            $0.start = .onDemand
            $0.keepsAll = ["Press"]
        },
        Role("Cutter", 2) {
            $0.home = .one(1)
            $0.player = .raw
            $0.restart = "always"
            $0.keepsAll = ["Mill"]
        },
        Role("Late", 2) {
            $0.home = .one(2)
            $0.player = .raw
            $0.keepsAll = ["Depot", "Clock"]
            $0.keepsLatest = ["Mill"]
        },
        Role("guest", 2) {
            $0.player = .guest
            $0.keepsAll = ["Ledger"]
        },
        Role("operator", 3) { $0.player = .tool },
        Role("driver", 3) { $0.player = .driver },
    ]

    /// The modules that have a row.
    public static var rows: [Role] { all.filter(\.hasRow) }

    /// Returns the number of the role with that name, or with that module: `Pool`, `Pool~2`.
    public static func index(of name: String) -> UInt8? {
        let name = name.prefix { $0 != "~" }
        return all.firstIndex { $0.name == name }.map { UInt8($0) }
    }

    public static func named(_ name: String) -> Role? { index(of: name).map { all[Int($0)] } }

    /// Returns the number of the replica that a module is, from 1; 0 if its row has none.
    public static func replica(of module: String) -> UInt8 {
        UInt8(module.drop { $0 != "~" }.dropFirst()) ?? 0
    }

    /// Returns the roles whose broadcasts an observer of all gets.
    public static func publishers(below rank: Int) -> [Role] { all.filter { $0.broadcasts > 0 && $0.rank < rank } }

    /// Returns the number in the logs for a name from `keepsAll` or `keepsLatest`.
    public static func newsIndex(_ name: String) -> UInt8 {
        name == adapter ? adapterIndex : index(of: name) ?? 0
    }

    /// Returns the number in the logs for the name of a broadcast; nil if it is no role's.
    public static func newsIndex(ofNotice name: String) -> UInt8? {
        name == adaptedNews ? adapterIndex : index(of: String(name.dropLast(".news".count)))
    }

    public static let adapterIndex: UInt8 = 200

    /// Returns the role that publishes broadcasts with that number.
    public static func publisher(ofNews number: UInt8) -> UInt8 {
        number == adapterIndex ? index(of: "Press") ?? 0 : number
    }
}
