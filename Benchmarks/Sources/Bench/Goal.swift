/// What the project wants of a figure.
struct Goal: Codable {
    let name: String
    let wanted: String
    let found: String
    let isMet: Bool

    private static func text(_ value: Double) -> String {
        value < 1000 ? "\(value.rounded(toPlaces: 2))" : "\(Int(value))"
    }

    static func all(_ figures: [String: [String: Figure]], _ memory: [String: Memory], _ module: ModuleWeight?)
        -> [Goal]
    {
        func figure(_ scenario: String, _ contender: Contender = .strata) -> Figure? {
            figures[scenario]?[contender.rawValue]
        }
        var goals: [Goal] = []
        func most(_ name: String, _ most: Double, _ found: Double?, _ unit: String) {
            guard let found else { return }
            goals.append(
                Goal(name: name, wanted: "≤ \(Self.text(most)) \(unit)", found: Self.text(found), isMet: found <= most))
        }
        func least(_ name: String, _ least: Double, _ found: Double?, _ unit: String) {
            guard let found else { return }
            goals.append(
                Goal(
                    name: name, wanted: "≥ \(Self.text(least)) \(unit)", found: Self.text(found), isMet: found >= least)
            )
        }
        let small = "round trip, 64 B"
        let many = "64 open, 64 B"
        most(small, 1.05, figure(small)?.toFloor, "× floor")
        most("round trip, 64 KiB", 1.05, figure("round trip, 64 KiB")?.toFloor, "× floor")
        least(many, 0.75, figure(many)?.toFloor, "× floor")
        for (name, wanted) in [("8 callers × 16 open, 64 B", 0.9), ("broadcasts 1 → 16, 64 B", 0.75)] {
            least(name, wanted, figure(name)?.toFloor, "× floor")
            least(name, 1.3, figure(name)?.toNATS, "× NATS")
        }
        least("Swift, bytes, 64 open", 0.45, figure(many, .bytes)?.toFloor, "× floor")
        least("Swift, async, 64 open", 0.35, figure(many, .async)?.toFloor, "× floor")
        least("Swift, typed, 64 open", 0.25, figure(many, .typed)?.toFloor, "× floor")
        func toRaw(_ contender: Contender) -> Double? {
            guard let raw = figure(small), let swift = figure(small, contender) else { return nil }
            return zip(swift.rounds, raw.rounds).map { $0 / $1 }.median
        }
        most("Swift, bytes, round trip", 1.5, toRaw(.bytes), "× raw clients")
        most("Swift, typed, round trip", 2, toRaw(.typed), "× raw clients")
        let strata = memory[Contender.strata.rawValue]
        most("memory per idle peer", 1_024, strata?.perPeer, "bytes")
        most("memory of the broker alone", 9_216, strata?.base, "KiB")
        most("memory of a Swift module", 9_216, module?.swift.resident, "KiB")
        most(
            "\(ModuleWeight.crowd) modules, until all are ready", 60, module?.crowdStart.median,
            "ms from the launcher's start")
        return goals
    }
}
