internal import FaultRecord

/// The faults between an app's nodes. They come one after another, with a rest in between, so that
/// what one of them explains can be told from what the next one does.
enum NodeFaults {
    private static let weights: [(FaultKind, Int)] = [
        (.killLink, 4), (.haltLink, 5), (.killServer, 5), (.haltServer, 3), (.cutCable, 6), (.killNode, 2),
        (.changeRow, 2),
    ]
    /// The times between two of them, in milliseconds.
    private static let rest = 3_000...6_000
    /// What the nodes outlive, in milliseconds: well below the app's `lost`, because the nodes must
    /// notice that they can reach each other again.
    private static let short = 200...3_000

    static func planned(
        _ generator: inout Generator, _ end: Int, nodes: Int, hasCables: Bool
    ) -> [PlannedFault] {
        var faults: [PlannedFault] = []
        var time = generator.number(2_000...4_000)
        while time < end {
            let kind = generator.pick(weighted: weights.filter { hasCables || $0.0 != .cutCable })
            var fault = PlannedFault(at: time, kind: kind, node: generator.number(0...(nodes - 1)))
            fault.milliseconds = milliseconds(of: kind, most: end - time, &generator)
            if kind == .changeRow { fault.role = generator.pick(Role.rows.filter { $0.player == .runtime }).name }
            faults.append(fault)
            time += fault.milliseconds + generator.number(rest)
        }
        return faults
    }

    /// Returns how long a fault lasts: shorter or longer than the app's `lost`, and within the run.
    private static func milliseconds(of kind: FaultKind, most: Int, _ generator: inout Generator) -> Int {
        let longest: Int
        switch kind {
        case .haltLink: longest = 15_000
        case .cutCable: longest = 20_000
        case .killServer, .haltServer: longest = 12_000
        case .killNode, .changeRow: return generator.number(500...5_000)
        default: return 0
        }
        let long = Int(RolePlacement.lost) + 500
        // Half of them are short. So are all that would outlast the run.
        guard generator.number(0...1) == 1, most > long else { return generator.number(short) }
        return generator.number(long...min(longest, most))
    }
}
