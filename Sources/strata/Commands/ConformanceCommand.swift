import ArgumentParser
import Glibc
import StrataConformance
import StrataCore

/// `strata conformance`: tries a client against the protocol.
struct ConformanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance", abstract: "Tries a client against the protocol.",
        discussion: """
            It starts a program that uses the client, plays the broker for it, and judges each \
            frame. docs/conformance.md says what the program must do. A check that fails shows \
            the section of the protocol, and the frames: > to the client, < from it.

            EXAMPLE
              strata conformance -- python3 probe.py
              strata conformance --section 6 --section 7 -- ./probe

            A check is left out if the client's hello doesn't have what it needs. Exit codes: \
            0 no check failed, 1 one did, 2 bad usage, 3 the program can't be tried.
            """)

    @Option(
        help: ArgumentHelp(
            "A section of the protocol: \(ConformanceRun.sectionNames.joined(separator: ", ")); again for more.",
            valueName: "section"))
    var section: [String] = []

    @Flag(help: "A check that is left out counts as failed.")
    var whole = false

    @Option(help: ArgumentHelp("How long the client has for each step, in seconds.", valueName: "seconds"))
    var patience = 10

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The program, and its arguments.", valueName: "command"))
    var words: [String] = []

    func validate() throws {
        guard !words.isEmpty else {
            throw ValidationError("Say after -- which program to try, as in -- python3 probe.py")
        }
        for name in section where !ConformanceRun.sectionNames.contains(name) {
            let names = ConformanceRun.sectionNames.joined(separator: ", ")
            throw ValidationError("--section takes \(names); found \(Printable.line(name))")
        }
        guard (1...3_600).contains(patience) else {
            throw ValidationError("--patience takes 1 to 3600 seconds; found \(patience)")
        }
    }

    func run() throws {
        var words = words
        words[0] = try ProgramSearch.path(of: words[0])
        let count: ConformanceRun.Count
        do throws(ConformanceError) {
            count = try ConformanceRun(words, sections: section, patience: .seconds(patience)) {
                StandardOutput.write(line: $0)
            }.run()
        } catch { throw Failure(.noBus, error.description) }
        let leftOut = count.leftOut == 0 ? "" : ", \(count.leftOut) left out"
        StandardOutput.write(line: "\(count.passed) passed, \(count.failed) failed\(leftOut)")
        if count.failed > 0 || whole && count.leftOut > 0 { throw ExitCode(Failure.Status.answer.rawValue) }
    }
}
