/// What several rounds brought for one contender in one scenario.
struct Figure: Codable {
    /// In microseconds, or a second; a round each.
    let rounds: [Double]
    let median: Double
    /// From the least to the most, as a part of the median.
    let spread: Double
    /// To the floor of the same round; the median of those.
    let toFloor: Double?
    let toNATS: Double?
    /// Of all rounds: what is left of it where others use the machine too.
    let best: Double
    /// To the floor's best.
    let bestToFloor: Double?

    init(_ rounds: [Double], floor: [Double]?, nats: [Double]?, _ measure: Scenario.Measure) {
        self.rounds = rounds
        median = rounds.median
        spread = ((rounds.max() ?? 0) - (rounds.min() ?? 0)) / rounds.median
        func ratio(_ others: [Double]?) -> Double? {
            others.map { zip(rounds, $0).map { $0 / $1 }.median }
        }
        toFloor = ratio(floor)
        toNATS = ratio(nats)
        best = measure.best(rounds)
        bestToFloor = floor.map { measure.best(rounds) / measure.best($0) }
    }
}

extension [Double] {
    var median: Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
