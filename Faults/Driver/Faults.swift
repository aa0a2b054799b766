internal import FaultJudge
internal import FaultRecord
internal import Glibc

/// `faults --strata PATH [--seconds N] [--seed N] [--quiet] [--keep FOLDER]`
///
/// scripts/faults builds everything and starts it. Exit codes: 0 if every promise held, 1 if one
/// did not, 2 if the run couldn't be made.
@main
enum Faults {
    static func main() {
        Interruption.watch()
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            FaultConsole.say("seed  \(options.seed), \(options.seconds) s")
            exit(try judge(try Run(options)) ? 0 : 1)
        } catch {
            FaultConsole.complain("faults: \(error)")
            exit(2)
        }
    }

    private static func judge(_ run: Run) throws -> Bool {
        defer { run.cleanUp() }
        if !run.places.hasDisk {
            FaultConsole.say("the store's disk can't be mounted (that takes root): its files' size is limited instead")
        }
        let logs = try run.run()
        var judge = RunJudge(logs, living: run.living)
        let violations = judge.judge()
        for line in SummaryTable(summary: judge.summary, violations: violations, run: run).lines {
            FaultConsole.say(line)
        }
        show(violations, LogLines(logs))
        for line in run.places.output(saying: "unexpected:").prefix(10) { FaultConsole.complain(line) }
        for complaint in run.complaints { FaultConsole.complain("violation: \(complaint)") }
        return violations.isEmpty && run.complaints.isEmpty
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
