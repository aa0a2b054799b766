internal import FaultJudge
internal import FaultRecord
internal import Glibc

/// `faults --strata PATH [--seconds N] [--seed N] [--quiet] [--keep FOLDER]`;
/// scripts/faults builds everything and starts it.
///
/// Exit codes: 0 where every promise held, 1 where one did not, 2 where the run
/// could not be made.
@main
enum Faults {
    static func main() {
        Interruption.watch()
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            Console.say("seed  \(options.seed), \(options.seconds) s")
            exit(try judge(try Run(options)) ? 0 : 1)
        } catch {
            Console.complain("faults: \(error)")
            exit(2)
        }
    }

    private static func judge(_ run: Run) throws -> Bool {
        defer { run.cleanUp() }
        if !run.places.hasDisk {
            Console.say("the store's disk can't be mounted (that takes root): its files' size is limited instead")
        }
        let logs = try run.run()
        var judge = Judge(logs, living: run.living)
        let violations = judge.judge()
        for line in Table(summary: judge.summary, violations: violations, run: run).lines { Console.say(line) }
        show(violations, LogLines(logs))
        for line in run.places.output(saying: "unexpected:").prefix(10) { Console.complain(line) }
        for complaint in run.complaints { Console.complain("violation: \(complaint)") }
        return violations.isEmpty && run.complaints.isEmpty
    }

    /// The first few of each kind, each with what the logs say of it.
    private static func show(_ violations: [Violation], _ lines: LogLines) {
        for kind in Violation.Kind.allCases {
            for violation in violations.filter({ $0.kind == kind }).prefix(4) {
                let whose = violation.request.map { " [\($0)]" } ?? ""
                Console.complain("violation: \(violation.text)\(whose)")
                for line in lines.about(violation) { Console.complain("    \(line)") }
            }
        }
    }
}
