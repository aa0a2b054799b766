internal import FaultJudge
internal import FaultRecord
internal import Glibc

/// `faults --strata PATH [--seconds N] [--seed N] [--nodes N] [--forgive-lost-nodes] [--quiet] [--keep FOLDER]`
///
/// scripts/faults builds everything and starts it. Exit codes: 0 if every promise held, 1 if one
/// did not, 2 if the run couldn't be made.
@main
enum Faults {
    static func main() {
        Interruption.watch()
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            let nodes = options.nodes > 1 ? ", \(options.nodes) nodes" : ""
            FaultConsole.say("seed  \(options.seed), \(options.seconds) s\(nodes)")
            exit(try judge(try makeRun(options)) ? 0 : 1)
        } catch {
            FaultConsole.complain("faults: \(error)")
            exit(2)
        }
    }

    private static func makeRun(_ options: Options) throws -> Run {
        let places = try Places()
        do { return try Run(options, places) } catch {
            places.remove(keeping: nil)
            throw error
        }
    }

    private static func judge(_ run: Run) throws -> Bool {
        defer { run.cleanUp() }
        if !run.places.hasDisk {
            FaultConsole.say("the store's disk can't be mounted (that takes root): its files' size is limited instead")
        }
        if let problem = run.networkProblem {
            FaultConsole.say("the nodes share the machine's network, and no cable is cut: \(problem)")
        }
        let logs = try run.run()
        var judge = RunJudge(logs, living: run.living, placement: run.placement)
        let found = judge.judge()
        for line in SummaryTable(summary: judge.summary, violations: found, run: run).lines {
            FaultConsole.say(line)
        }
        let violations = found.filter { run.options.judgesPartings || $0.kind != .gapAfterParting }
        show(violations, LogLines(logs, run.placement))
        if run.options.kept != nil { try keep(found, LogLines(logs, run.placement), run.places) }
        for line in run.output(saying: "unexpected:").prefix(10) { FaultConsole.complain(line) }
        for complaint in run.complaints { FaultConsole.complain("violation: \(complaint)") }
        return violations.isEmpty && run.complaints.isEmpty
    }

    /// Writes all violations into the run's folder.
    private static func keep(_ violations: [Violation], _ lines: LogLines, _ places: Places) throws {
        let texts = violations.map { violation in
            let whose = violation.request.map { " [\($0)]" } ?? ""
            return "\(violation.kind.rawValue): \(violation.text)\(whose)\n"
                + lines.about(violation).map { "    \($0)\n" }.joined()
        }
        try places.write(texts.joined(), to: places.file("violations.txt"))
    }

    /// Shows the first four violations of each kind, each with the lines of the logs about it.
    private static func show(_ violations: [Violation], _ lines: LogLines) {
        for kind in Violation.Kind.allCases {
            for violation in violations.filter({ $0.kind == kind }).prefix(4) {
                let whose = violation.request.map { " [\($0)]" } ?? ""
                FaultConsole.complain("violation: \(violation.text)\(whose)")
                for line in lines.about(violation) { FaultConsole.complain("    \(line)") }
            }
        }
    }
}
