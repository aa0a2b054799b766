import FaultRecord

/// The faults of a run, in order of time. The same seed, length and nodes make the same plan.
public struct Plan: Equatable {
    public let faults: [PlannedFault]

    private static let weights: [(FaultKind, Int)] = [
        (.killModule, 18), (.haltModule, 14), (.haltBroker, 3), (.cutConnection, 12), (.halfFrame, 5),
        (.delayReader, 14), (.restartModule, 12), (.handOver, 7), (.reload, 4), (.fillDisk, 5), (.guestComes, 6),
        (.guestGoes, 5), (.scale, 7),
    ]
    /// With several nodes a replacement of the broker parts its node from the others. It is rarer,
    /// so that most requests between nodes have no excuse. No row has replicas.
    private static let weightsWithNodes = weights.map { ($0.0, $0.0 == .handOver ? 1 : $0.0 == .scale ? 0 : $0.1) }

    /// - Parameters:
    ///   - nodes: the number of nodes of the app.
    ///   - hasCables: whether each node has a network of its own.
    public init(seed: UInt64, seconds: Int, nodes: Int = 1, hasCables: Bool = false) {
        var generator = Generator(seed)
        let end = seconds * 1_000 - 1_500
        var faults = Self.brokerKills(&generator, end, nodes: nodes)
        var time = 1_000
        while time < end {
            faults.append(
                Self.fault(
                    generator.pick(weighted: nodes > 1 ? Self.weightsWithNodes : Self.weights), at: time, &generator))
            time += generator.number(40...360)
        }
        if nodes > 1 {
            for index in faults.indices { faults[index].node = generator.number(0...(nodes - 1)) }
            faults += NodeFaults.planned(&generator, end, nodes: nodes, hasCables: hasCables)
        }
        self.faults = faults.enumerated().sorted { ($0.1.at, $0.0) < ($1.1.at, $1.0) }.map(\.element)
    }

    /// Returns kills of the broker, rare enough that the launcher doesn't give up. It gives up
    /// after ten deaths that each come within 10 s of their start.
    private static func brokerKills(_ generator: inout Generator, _ end: Int, nodes: Int) -> [PlannedFault] {
        var faults: [PlannedFault] = []
        var time = generator.number(2_000...5_000)
        while time < end {
            faults.append(PlannedFault(at: time, kind: .killBroker))
            time +=
                nodes > 1 || faults.count % 3 == 0
                ? generator.number(10_500...13_000) : generator.number(2_500...6_000)
        }
        return faults
    }

    private static func fault(_ kind: FaultKind, at time: Int, _ generator: inout Generator) -> PlannedFault {
        var fault = PlannedFault(at: time, kind: kind)
        // A row with replicas has more processes to hit.
        let rows = Role.rows.flatMap { [Role](repeating: $0, count: $0.replicas?.upperBound ?? 1) }
        switch kind {
        case .killModule, .cutConnection: fault.role = generator.pick(rows).name
        case .haltModule:
            fault.role = generator.pick(rows).name
            fault.milliseconds = generator.number(50...1_500)
        case .haltBroker: fault.milliseconds = generator.number(50...600)
        case .halfFrame: fault.role = "Cutter"
        case .delayReader:
            fault.role = generator.pick(rows.filter { !$0.keepsAll.isEmpty || !$0.keepsLatest.isEmpty }).name
            fault.milliseconds = generator.number(100...1_500)
        case .restartModule: fault.role = generator.pick(rows.filter { $0.start != .onDemand }).name
        case .scale:
            let row = generator.pick(Role.rows.filter { $0.replicas != nil })
            fault.role = row.name
            fault.replicas = generator.number(row.replicas ?? 1...1)
        case .fillDisk: fault.milliseconds = generator.number(300...1_500)
        case .killBroker, .handOver, .reload, .guestComes, .guestGoes, .killLauncher, .killLink, .haltLink, .killServer,
            .haltServer, .cutCable, .killNode, .changeRow:
            break
        }
        return fault
    }
}
