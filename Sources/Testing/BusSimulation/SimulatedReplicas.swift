import StrataCore

/// The row with replicas of a simulated app. Each replica is a module with its own place.
extension SimulatedApp {
    /// Gives one row replicas, in three of four apps.
    /// - Returns: the places of the replicas.
    static func replicate(_ table: inout AppTable, _ modules: inout [Module], besides authorizer: Int?) -> [Int] {
        var numbers = SeededGenerator(Int(table.startup))
        let others = modules.indices.filter { $0 != authorizer }
        // Broadcasts reach rows of later levels.
        let later = others.filter { modules[$0].row.rank > 0 }
        let place = (later.isEmpty ? others : later)[numbers.below(later.isEmpty ? others.count : later.count)]
        guard numbers.chance(3, in: 4) else { return [] }
        if modules[place].observed.isEmpty { modules[place].observed = [observed(&numbers)] }
        // What wakes a row has no share, and is judged for single modules.
        modules[place].row.wakes = []
        modules[place].row.observes = []
        var targets: Set<String> = []
        for index in modules[place].observed.indices {
            let observed = modules[place].observed[index]
            let isFirst = targets.insert("\(observed.name) \(observed.object ?? -1)").inserted
            modules[place].observed[index].isShared = isFirst && numbers.chance(2, in: 3)
        }
        var places = [place]
        for number in 1...2 + numbers.below(2) {
            var module = modules[place]
            let replica = ReplicaName(row: name(place), number: number)
            (module.row.name, module.row.replica) = (replica.description, replica)
            if number == 1 {
                modules[place] = module
            } else {
                places.append(modules.count)
                modules.append(module)
            }
        }
        table.modules = modules.map(\.row)
        return places
    }

    /// The places of the rows, where a row with replicas has one.
    var rows: Range<Int> { 0..<modules.count - max(0, replicas.count - 1) }

    /// Returns the place of the row that a module belongs to.
    func row(of place: Int) -> Int { replicas.contains(place) ? replicas[0] : place }

    /// Returns the name of a row, for its replicas too.
    func rowName(_ place: Int) -> String { Self.name(row(of: place)) }

    func hasReplicas(_ place: Int) -> Bool { replicas.contains(place) }

    /// Whether a row's module follows another one alone, so that there is one session at a time.
    func isSingle(_ place: Int) -> Bool { !hasReplicas(place) && modules[place].row.replace == .wait }

    /// Removes some of the replicas from a table, from the last one on.
    func scale(_ table: inout AppTable, _ numbers: inout SeededGenerator) {
        if replicas.count > 1 { table.modules.removeLast(numbers.below(replicas.count)) }
    }

    /// Makes the rows of the replicas equal but for their names.
    func equateReplicas(_ table: inout AppTable) {
        for place in replicas.dropFirst() where place < table.modules.count {
            let (name, replica) = (table.modules[place].name, table.modules[place].replica)
            table.modules[place] = table.modules[replicas[0]]
            (table.modules[place].name, table.modules[place].replica) = (name, replica)
        }
    }

    /// Whether a module makes a request of its own row, or is a replica that a table has no more. The
    /// bus judges that one by an earlier table.
    func isOwn(_ caller: Int, _ owner: Int, _ table: AppTable) -> Bool {
        caller >= table.modules.count || row(of: caller) == owner
    }
}
