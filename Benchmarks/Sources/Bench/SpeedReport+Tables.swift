extension SpeedReport {
    func printTables(
        _ figures: [String: [String: Figure]], _ memory: [String: Memory], _ module: ModuleWeight?,
        _ absent: [String: String], _ goals: [Goal]
    ) {
        for scenario in Scenario.all {
            let unit = scenario.measure == .roundTrip ? "µs" : "a second"
            let place = scenario.isPinned ? "one CPU" : "any CPU"
            Console.say("")
            Console.say(
                "\("\(scenario.name) (\(unit), \(place))".padded(44)) median      × floor  × NATS   spread   best        × floor"
            )
            for contender in scenario.contenders {
                guard let figure = figures[scenario.name]?[contender.rawValue] else { continue }
                Console.say(
                    "  \(contender.rawValue.padded(42)) \(Self.text(figure.median).padded(11)) "
                        + "\(Self.ratio(figure.toFloor).padded(8)) \(Self.ratio(figure.toNATS).padded(8)) "
                        + "\("\(Int((figure.spread * 100).rounded())) %".padded(8)) "
                        + "\(Self.text(figure.best).padded(11)) \(Self.ratio(figure.bestToFloor))")
            }
        }
        Console.say("\n\("memory".padded(44)) RSS KiB     PSS KiB     RSS bytes per idle peer")
        for contender in Contender.allCases {
            guard let memory = memory[contender.rawValue] else { continue }
            Console.say(
                "  \(contender.rawValue.padded(42)) \("\(Int(memory.base))".padded(11)) "
                    + "\("\(Int(memory.share))".padded(11)) \(Int(memory.perPeer))")
        }
        if let module { printTable(module) }
        for (contender, reason) in absent.sorted(by: { $0.key < $1.key }) {
            Console.say("\nnot measured: \(contender): \(reason)")
        }
        Console.say("\n\("goal".padded(34)) \("wanted".padded(24)) found")
        for goal in goals {
            Console.say(
                "  \(goal.name.padded(32)) \(goal.wanted.padded(24)) \(goal.found.padded(12)) "
                    + (goal.isMet ? "met" : "NOT MET"))
        }
    }

    private func printTable(_ module: ModuleWeight) {
        func row(_ name: String, _ start: Figure, _ resident: String, _ share: Double, _ own: String) {
            Console.say(
                "  \(name.padded(42)) \("\(start.median.rounded(toPlaces: 1))".padded(11)) "
                    + "\("\(start.best.rounded(toPlaces: 1))".padded(8)) \(resident.padded(11)) \("\(Int(share))".padded(11)) \(own)"
            )
        }
        Console.say("\n\("a module process".padded(44)) ready, ms   best     RSS KiB     PSS KiB     own KiB")
        for (name, alone) in [("alone, Swift", module.swift), ("alone, C", module.c)] {
            row(name, alone.start, "\(Int(alone.resident))", alone.share, "\(Int(alone.own))")
        }
        row("\(ModuleWeight.crowd) at once, with launcher and broker", module.crowdStart, "", module.crowdShare, "")
    }

    private static func text(_ value: Double) -> String {
        value < 1000 ? "\(value.rounded(toPlaces: 1))" : "\(Int(value))"
    }

    private static func ratio(_ value: Double?) -> String { value.map { "\($0.rounded(toPlaces: 2))" } ?? "" }
}
