import StrataBus
import StrataCore

/// The app of a simulation: its table, and what its modules declare. All of it follows from a
/// seed.
struct SimulatedApp {
    /// A row's module, and what it declares in its hello.
    struct Module {
        var row: AppTable.Row
        /// A `single` interface, whose action `b` needs authorization.
        let interface: String
        /// An interface that has an instance for each user; nil if the module has none.
        let instances: String?
        var observed: [Observed]

        /// Makes the row of a module that is started on demand observe what its hello does, and wake
        /// for some of that and for an event.
        mutating func wake(_ numbers: inout SeededGenerator) {
            guard row.start == .onDemand else { return }
            var targets: Set<String> = []
            observed.removeAll { !targets.insert("\($0.name) \($0.object ?? -1)").inserted }
            row.observes = observed.map(\.ofRow)
            row.wakes = (0..<SimulatedApp.notifications).filter { _ in numbers.chance(2, in: 3) }.map { "n\($0)" }
            if numbers.chance(1, in: 2) { row.wakes.append("e0") }
        }
    }

    struct Observed: Equatable {
        let name: Int
        let object: Int?
        let isLatest: Bool
        /// Whether the replicas of the row share it.
        var isShared = false

        var ofRow: AppTable.Observed {
            .init(name: "n\(name)", object: object.map { "o\($0)" }, keep: isLatest ? .latest : .all)
        }

        var json: String {
            let object = object.map { #","object":"o\#($0)""# } ?? ""
            let share = isShared ? #","share":true"# : ""
            return #"{"name":"n\#(name)"\#(object)\#(isLatest ? #","keep":"latest""# : "")\#(share)}"#
        }
    }

    static let notifications = 3
    static let objects = 2
    static let actions = ["a", "b", "c"]
    static let levels = ["basic", "middle", "topout"]

    let table: AppTable
    let modules: [Module]
    /// The indices of the modules that are the replicas of one row, the last ones but for the first of
    /// them; none if no row has replicas.
    let replicas: [Int]
    /// The index of the authorizer's module; nil if there is none.
    let authorizer: Int?
    /// Whether a launcher starts modules; else all of them are started by hand.
    let hasLauncher: Bool
    /// Whether `limits.total` is so small that frames may be refused for it.
    let isTight: Bool
    /// Whether modules say versions of what they provide and require.
    let hasVersions: Bool
    /// The apps whose URLs rows open: none, a few, or more than the bus connects to at once.
    let others: [OtherApp]

    init(_ numbers: inout SeededGenerator) {
        let count = 2 + numbers.below(5)
        authorizer = numbers.chance(2, in: 3) ? numbers.below(count) : nil
        hasLauncher = numbers.chance(1, in: 2)
        var table = AppTable(app: "simulated")
        table.schemes = ["sim"]
        table.calls = [.any, .any, .any, .layered, .declared][numbers.below(5)]
        table.guests = numbers.chance(1, in: 2) ? .init(rank: numbers.below(3), most: 2) : nil
        table.hello = UInt64(1_000 + numbers.below(30_000))
        table.startup = UInt64(1_000 + numbers.below(30_000))
        table.limits.calls = [2, 8, 1_024, 1_024][numbers.below(4)]
        table.limits.queue = [1 << 10, 1 << 10, 64 << 10, 8 << 20][numbers.below(4)]
        table.limits.waiting = [1, 4, 1_024, 1_024][numbers.below(4)]
        table.limits.held = [64, 8 << 20, 8 << 20, 8 << 20][numbers.below(4)]
        table.limits.instances = [1, 4_096][numbers.below(2)]
        table.limits.depth = [1, 2, 3, 32][Int(table.hello % 4)]
        table.openableBy = Self.openableBy(Int(table.startup))
        isTight = numbers.chance(1, in: 8)
        if isTight { table.limits.total = 4 << 10 }
        if let authorizer { table.authorizer = Self.interface(authorizer) }
        var modules: [Module] = []
        for place in 0..<count {
            var row = AppTable.Row(name: Self.name(place))
            row.rank = numbers.below(3)
            row.start = hasLauncher ? [.manual, .eager, .async, .onDemand][numbers.below(4)] : .manual
            if numbers.chance(1, in: 3) { row.replace = .overlap }
            if row.start == .onDemand, numbers.chance(1, in: 2) { row.idle = UInt64(100 + numbers.below(5_000)) }
            row.trusted = numbers.chance(1, in: 4)
            row.stop = UInt64(50 + numbers.below(2_000))
            if numbers.chance(1, in: 4) { row.ping = UInt64(500 + numbers.below(5_000)) }
            row.provides = [Self.interface(place)]
            row.urls = [
                .init(
                    host: "h\(place)", path: "/x/:n", to: "\(Self.interface(place))/a", isPublic: Self.isPublic(place)),
                .init(host: "h\(place)", path: "/x/*n", to: "\(Self.interface(place))/c"),
                .init(host: "*", path: "/\(Self.name(place))/*n", to: "\(Self.interface(place))/c"),
            ]
            row.requires = (0..<count).filter { _ in numbers.chance(2, in: 3) }.map {
                RequiredInterface(name: Self.interface($0))
            }
            row.broadcasts = (0..<Self.notifications).map { "n\($0)" }
            row.reports = (0..<count).map { .init(module: Self.name($0), names: row.broadcasts) }
            let observed = (0..<numbers.below(4)).map { _ in Self.observed(&numbers) }
            table.modules.append(row)
            modules.append(
                Module(
                    row: row, interface: Self.interface(place),
                    instances: numbers.chance(1, in: 3) ? "N\(Self.name(place))" : nil, observed: observed))
        }
        // From numbers of their own, so that the rest of a seed's app stays as it is.
        var more = SeededGenerator(Int(table.hello))
        for place in modules.indices {
            if more.chance(1, in: 2) { modules[place].wake(&more) }
            if more.chance(1, in: 3) { modules[place].row.manages = [Self.name((place + 1) % count)] }
        }
        table.modules = modules.map(\.row)
        hasVersions = more.chance(1, in: 2)
        if hasVersions { Self.compareVersions(&table, &more) }
        let otherCount = [0, 0, 1, 2, 3, 2 * LinkTable.most][more.below(6)]
        others = (0..<otherCount).map { OtherApp($0 % 3 == 0 ? .socket("/run/far\($0)") : .name("far\($0)")) }
        for place in modules.indices {
            table.modules[place].opens = others.enumerated().filter { _ in more.chance(3, in: 4) }.map {
                .init(scheme: SimulatedLink.scheme($0.offset), app: $0.element)
            }
            modules[place].row = table.modules[place]
        }
        replicas = hasVersions ? [] : Self.replicate(&table, &modules, besides: authorizer)
        self.table = table
        self.modules = modules
    }

    /// Whether notices of what a row's module observes may be held for it.
    func wakes(_ place: Int, _ observed: Observed) -> Bool {
        place >= 0 && modules[place].row.wakes.contains("n\(observed.name)")
            && modules[place].observed.contains { $0.name == observed.name && $0.object == observed.object }
    }

    /// Whether other apps may open a module's URL.
    static func isPublic(_ place: Int) -> Bool { place % 2 == 0 }

    /// Returns who may open public URLs: often the simulated peers' user, else another one or nobody.
    private static func openableBy(_ choice: Int) -> AppTable.OpenableBy? {
        choice % 6 == 0 ? nil : .init(users: [choice % 6 == 1 ? 7 : SimulatedApp.user], rank: choice % 3)
    }

    /// The user of the bus and of all peers.
    static let user: UInt32 = 1_000

    static func name(_ place: Int) -> String { String(UnicodeScalar(UInt8(65 + place))) }
    static func interface(_ place: Int) -> String { "I\(name(place))" }

    static func observed(_ numbers: inout SeededGenerator) -> Observed {
        observed(numbers.below(1 << 10))
    }

    /// Returns one of all possible observations.
    static func observed(_ choice: Int) -> Observed {
        Observed(
            name: choice % notifications, object: choice >> 2 & 7 < objects ? choice >> 2 & 7 : nil,
            isLatest: choice >> 4 & 1 == 1)
    }

    /// Returns another table of the app, as a reload brings one. It changes what modules may do,
    /// and how they run.
    func otherTable(_ choice: Int) -> AppTable {
        var numbers = SeededGenerator(choice)
        var table = table
        scale(&table, &numbers)
        table.calls = [.any, .layered, .declared][numbers.below(3)]
        table.limits.calls = [2, 8, 1_024][numbers.below(3)]
        table.guests = numbers.chance(1, in: 3) ? nil : table.guests
        table.guests?.most = 1 + numbers.below(2)
        for place in table.modules.indices {
            table.modules[place].trusted = numbers.chance(1, in: 4)
            table.modules[place].requires = rows.filter { _ in numbers.chance(1, in: 2) }.map {
                RequiredInterface(name: Self.interface($0))
            }
            table.modules[place].stop = UInt64(50 + numbers.below(2_000))
            table.modules[place].ping = numbers.chance(1, in: 4) ? UInt64(500 + numbers.below(5_000)) : nil
        }
        table.limits.depth = [1, 2, 3, 32][numbers.below(4)]
        table.openableBy = Self.openableBy(numbers.below(6))
        if hasVersions { Self.compareVersions(&table, &numbers) }
        let opensLess = numbers.chance(1, in: 3)
        for place in table.modules.indices where opensLess {
            table.modules[place].opens.removeAll { _ in numbers.chance(2, in: 3) }
        }
        equateReplicas(&table)
        return table
    }

    /// Whether a module of that rank may create an instance at another module. No row requires an
    /// interface that has instances.
    func mayCreate(_ creator: Int, _ owner: Int, rank: Int, by table: AppTable) -> Bool {
        isOwn(creator, owner, table) || table.calls == .any
            || table.calls == .layered && modules[owner].row.rank <= rank
    }

    /// Whether a module of that rank may call another module's interface (section 6, Checks).
    func mayCall(_ caller: Int, _ owner: Int, rank: Int, by table: AppTable) -> Bool {
        if isOwn(caller, owner, table) { return true }
        switch table.calls {
        case .any: return true
        case .layered: return modules[owner].row.rank <= rank
        case .declared:
            return modules[owner].row.rank <= rank
                && caller >= 0 && table.modules[caller].requires.contains { $0.name == modules[owner].interface }
        }
    }
}
