import StrataCore

extension Manifest {
    /// Returns the manifest as it is put in force: in place of each row with `replicas` stands one for each replica,
    /// which differs by its name alone. A row of another node stays one, because only its node knows its replicas.
    /// - Parameter counts: how many replicas a row has, by its name, as far as the row allows. Otherwise it has its
    ///   least number.
    public func inForce(_ counts: [String: Int] = [:]) -> Manifest {
        var manifest = self
        (manifest.table.modules, manifest.processes) = ([], [])
        for (row, process) in zip(table.modules, processes) {
            let replicas = row.isAway(from: table.node) ? nil : process.replicas
            for number in replicas.map({ 1...$0.clamp(counts[row.name]) }) ?? 0...0 {
                var (row, process) = (row, process)
                if number > 0 {
                    let replica = ReplicaName(row: row.name, number: number)
                    row.replica = replica
                    (row.name, process.name) = (replica.description, replica.description)
                }
                manifest.table.modules.append(row)
                manifest.processes.append(process)
            }
        }
        return manifest
    }
}

extension ClosedRange<Int> {
    /// Returns the nearest number in the range; the least one if none is wanted.
    fileprivate func clamp(_ wanted: Int?) -> Int { Swift.min(Swift.max(wanted ?? lowerBound, lowerBound), upperBound) }
}
