internal import Foundation

/// Measures what a bystander feels of each kind of abuse, and what the broker holds
/// meanwhile; prints the table, and fails where a goal is missed.
struct OverloadReport {
    /// The bystander's p99 may be so many times that of the calm run.
    static let mostRatio = 1.5

    /// What all rounds of one kind brought.
    struct Result: Codable {
        let name: String
        /// A round each.
        var nobody: [OverloadRun.Outcome] = []
        var elsewhere: [OverloadRun.Outcome] = []
        var here: [OverloadRun.Outcome] = []

        static func p99(_ rounds: [OverloadRun.Outcome]) -> Double { rounds.map(\.p99).median }
        static func p50(_ rounds: [OverloadRun.Outcome]) -> Double { rounds.map(\.p50).median }
        var ratio: Double { Self.p99(here) / Self.p99(elsewhere) }
        /// The round that grew most.
        var grown: OverloadRun.Outcome? { here.max { $0.peak - $0.before < $1.peak - $1.before } }
    }

    private struct Results: Codable {
        var cpus: Int
        var results: [Result]
        var goals: [Goal]
    }

    private let places: Places
    private let folder: String
    private let abuses: [Abuse]
    private let rounds = 3
    private let seconds: Double

    init(isQuick: Bool, only: String?, _ folder: String, _ places: Places) throws {
        self.places = places
        self.folder = folder
        seconds = isQuick ? 0.5 : 2
        abuses = Abuse.all.filter { only == nil || $0.name == only }
        guard !abuses.isEmpty else {
            throw Failure(
                "there is no abuse \(only ?? ""): there are \(Abuse.all.map(\.name).joined(separator: ", "))")
        }
    }

    func run(json: String?) throws {
        let run = OverloadRun(places: places, seconds: seconds)
        var results = abuses.map { Result(name: $0.name) }
        for round in 0..<rounds {
            Console.complain("round \(round + 1) of \(rounds)")
            for (index, abuse) in abuses.enumerated() {
                // Calm and abuse come close together, and by turns.
                for company in OverloadRun.Company.allCases {
                    let outcome = try run.run(abuse, company)
                    switch company {
                    case .nobody: results[index].nobody.append(outcome)
                    case .elsewhere: results[index].elsewhere.append(outcome)
                    case .here: results[index].here.append(outcome)
                    }
                }
            }
        }
        let goals = zip(abuses, results).flatMap { Self.goals($0, $1) }
        printTables(abuses, results, goals)
        let stamp = Date.now.formatted(.iso8601).replacingOccurrences(of: ":", with: "")
        let file = json ?? "\(folder)/.results/overload-\(stamp).json"
        try Files.write(
            Results(cpus: ProcessInfo.processInfo.activeProcessorCount, results: results, goals: goals), to: file)
        Console.say("\nwritten to \(file)")
        let missed = goals.count { !$0.isMet }
        if missed > 0 { throw Failure("\(missed) of \(goals.count) goals are missed") }
    }

    private static func goals(_ abuse: Abuse, _ result: Result) -> [Goal] {
        var goals = [
            Goal(
                name: "\(abuse.name): p99", wanted: "≤ \(mostRatio) × calm",
                found: "\(result.ratio.rounded(toPlaces: 2))", isMet: result.ratio <= mostRatio)
        ]
        if let grown = result.grown {
            let found = grown.peak - grown.before
            goals.append(
                Goal(
                    name: "\(abuse.name): memory", wanted: "≤ \(abuse.allowedGrowth) KiB more", found: "\(found)",
                    isMet: found <= abuse.allowedGrowth))
            let kept = result.here.map { $0.after - $0.before }.max() ?? 0
            goals.append(
                Goal(
                    name: "\(abuse.name): memory afterwards", wanted: "≤ \(OverloadRun.near) KiB more",
                    found: "\(kept)", isMet: kept <= OverloadRun.near))
        }
        if let name = abuse.isNamedBy {
            // A flood whose turns are short may stay within its limits.
            let refused = result.here.compactMap(\.abuse).filter { !$0.errors.isEmpty }
            let isNamed = refused.allSatisfy { $0.message(name) != nil }
            goals.append(
                Goal(
                    name: "\(abuse.name): named", wanted: "\(name.code): \(name.part)",
                    found: refused.isEmpty ? "nobody was refused" : isNamed ? "so" : "not", isMet: isNamed))
        }
        return goals
    }
}
