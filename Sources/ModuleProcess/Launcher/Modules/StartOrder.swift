import StrataCore

/// The order in which the modules are started: by level, then priority, equal
/// ones at once, each group when the one before has done `setUp`.
///
/// A value without I/O; `now` in milliseconds.
struct StartOrder {
    /// What one turn starts.
    struct Group: Equatable {
        var rank: Int
        /// The next group waits for these.
        var eager: [String] = []
        /// For these nobody waits.
        var async: [String] = []
    }

    let groups: [Group]
    /// How long a group may hold up the next one.
    private let startup: UInt64
    private var next = 0
    private var waitsFor: Set<String> = []
    private(set) var deadline: UInt64?

    init(_ table: AppTable) {
        startup = table.startup
        var groups: [Group] = []
        for rank in table.levels.indices {
            let rows = table.modules.filter { $0.rank == rank }
            let eager = rows.filter { $0.start == .eager }
            let async = rows.filter { $0.start == .async }.map(\.name)
            var ofLevel = Set(eager.map(\.priority)).sorted(by: >).map { priority in
                Group(rank: rank, eager: eager.filter { $0.priority == priority }.map(\.name))
            }
            // Asynchronous ones take their level's first turn.
            if !async.isEmpty {
                if ofLevel.isEmpty { ofLevel = [Group(rank: rank)] }
                ofLevel[0].async = async
            }
            groups += ofLevel
        }
        self.groups = groups
    }

    /// Every group has been started.
    var isOver: Bool { next == groups.count && waitsFor.isEmpty }

    /// Which modules the next group waits for.
    var holders: Set<String> { waitsFor }

    mutating func begin(at now: UInt64) -> [String] { proceed(now) }

    /// It did `setUp`, failed, or was stopped: it holds up nobody.
    mutating func passed(_ name: String, at now: UInt64) -> [String] {
        guard waitsFor.remove(name) != nil else { return [] }
        return proceed(now)
    }

    /// The group's time has passed; the next one doesn't wait for it.
    mutating func deadlinePassed(at now: UInt64) -> [String] {
        guard let deadline, deadline <= now else { return [] }
        waitsFor = []
        return proceed(now)
    }

    private mutating func proceed(_ now: UInt64) -> [String] {
        var names: [String] = []
        while waitsFor.isEmpty, next < groups.count {
            let group = groups[next]
            next += 1
            names += group.eager + group.async
            waitsFor = Set(group.eager)
            deadline = now + startup
        }
        if waitsFor.isEmpty { deadline = nil }
        return names
    }
}
