internal import Foundation

/// Measures all contenders in all scenarios, in rounds, and prints the tables.
struct SpeedReport {
    private let places: Places
    private let folder: String
    private let rounds: Int
    private let warmUp: Double
    private let seconds: Double

    init(isQuick: Bool, _ folder: String, _ places: Places) {
        self.places = places
        self.folder = folder
        rounds = isQuick ? 3 : 9
        warmUp = isQuick ? 0.05 : 0.1
        seconds = isQuick ? 0.25 : 0.5
    }

    /// What is written as JSON: by scenario or by itself, then by contender.
    private struct Results: Codable {
        var cpus: Int
        var figures: [String: [String: Figure]]
        var memory: [String: Memory]
        var module: ModuleWeight?
        var notMeasured: [String: String]
        var goals: [Goal]
    }

    func run(json: String?) throws {
        var absent = absentContenders()
        let samples = try measure(&absent)
        var figures: [String: [String: Figure]] = [:]
        for scenario in Scenario.all {
            figures[scenario.name] = Self.figures(samples[scenario.name] ?? [:], scenario.measure)
        }
        let memory = try measureMemory(absent)
        let module = try ModuleWeight(rounds: rounds, in: places)
        let goals = Goal.all(figures, memory, module)
        printTables(figures, memory, module, absent, goals)
        let results = Results(
            cpus: ProcessInfo.processInfo.activeProcessorCount, figures: figures, memory: memory,
            module: module, notMeasured: absent, goals: goals)
        let stamp = Date.now.formatted(.iso8601).replacingOccurrences(of: ":", with: "")
        let file = json ?? "\(folder)/.results/\(stamp).json"
        try Files.write(results, to: file)
        Console.say("\nwritten to \(file)")
    }

    /// Those that this machine can't run, and why.
    private func absentContenders() -> [String: String] {
        var absent: [String: String] = [:]
        for contender in Contender.allCases {
            if let program = contender.missingProgram {
                absent[contender.rawValue] = "\(program) isn't installed"
                continue
            }
            do {
                try Bus(contender, cpu: nil, in: places).end()
            } catch {
                absent[contender.rawValue] = "it can't be started: \(error)"
            }
        }
        return absent
    }

    /// By scenario and contender, a figure for each round. The order turns round by
    /// round, so that none always comes first.
    private func measure(_ absent: inout [String: String]) throws -> [String: [Contender: [Double]]] {
        var samples: [String: [Contender: [Double]]] = [:]
        for round in 0..<rounds {
            Console.complain("round \(round + 1) of \(rounds)")
            for scenario in Scenario.all {
                let contenders = scenario.contenders.filter { absent[$0.rawValue] == nil }
                for contender in round % 2 == 0 ? contenders : contenders.reversed() {
                    let measurement = Measurement(
                        scenario: scenario, contender: contender, warmUp: warmUp, seconds: seconds, places: places)
                    do {
                        samples[scenario.name, default: [:]][contender, default: []].append(try measurement.run())
                    } catch  where contender.isForeign {
                        absent[contender.rawValue] = "\(scenario.name): \(error)"
                        for name in samples.keys { samples[name]?[contender] = nil }
                    }
                }
            }
        }
        return samples
    }

    private static func figures(_ samples: [Contender: [Double]], _ measure: Scenario.Measure) -> [String: Figure] {
        var figures: [String: Figure] = [:]
        for (contender, rounds) in samples {
            figures[contender.rawValue] = Figure(rounds, floor: samples[.floor], nats: samples[.nats], measure)
        }
        return figures
    }

    private func measureMemory(_ absent: [String: String]) throws -> [String: Memory] {
        var memory: [String: Memory] = [:]
        for contender in Contender.allCases where contender.hasRawClients && absent[contender.rawValue] == nil {
            memory[contender.rawValue] = try Memory(of: contender, in: places)
        }
        return memory
    }
}
