/// A check of a page's terminal sessions: it runs the commands again, and compares their output
/// with the page.
///
/// A `console` block is a session. A line that begins with `$ ` is typed, and so are the lines
/// with `> ` right after it. `^C` is ctrl-C. Everything else is expected output. A line that is
/// only `…` stands for any number of lines. Inside a line, `…` matches any text, and `‹pid›` any
/// text except none. `‹Storage's pid›` stands for the same text everywhere, also in commands.
/// `LinePattern` describes the comparison.
///
/// All blocks are typed into one terminal, except those marked `<!-- sample: terminal NAME -->`.
/// Each name has a terminal of its own, for a program that continues after its block. The lines
/// of such a program may come in any order, with other lines between them. A block without `$ `
/// shows more of its output.
///
/// The given lines of a block are a script. `/bin/sh` runs it in the folder before the block is
/// typed. The script writes what the page doesn't show.
public final class Transcript {
    private let page: Page
    private let folder: String
    private let environment: [String: String]
    private let patience: Duration
    private let columns: UInt16
    private var terminals: [String: Terminal] = [:]
    /// The lines of each named terminal that no line of the page has matched yet.
    private var unmet: [String: [String]] = [:]
    private var known: [String: String] = [:]

    /// - Parameters:
    ///   - page: the page whose `console` blocks are run.
    ///   - folder: the folder in which the shells begin, and their home.
    ///   - environment: variables beside this process's own. Its own `STRATA_…` variables are
    ///     left out.
    ///   - columns: the width of the terminals.
    ///   - patience: how long each command may take.
    public init(
        _ page: Page, in folder: String, environment: [String: String] = [:], columns: UInt16 = 100,
        patience: Duration = TestBus.patience
    ) {
        self.page = page
        self.folder = folder
        self.environment = environment
        self.columns = columns
        self.patience = patience
    }

    /// Runs the sessions in the page's order, then ends the terminals.
    /// - Returns: the number of commands that were typed.
    /// - Throws: ``TestFailure`` at the first line that differs from the page.
    @discardableResult
    public func replay() throws -> Int {
        defer {
            for terminal in terminals.values { terminal.close() }
            terminals = [:]
        }
        var count = 0
        for sample in page.samples where sample.language == "console" && !sample.isOnlyShown {
            let name = sample.marked("terminal")
            guard name != nil || sample.marking.isEmpty else {
                throw TestFailure(
                    "\(sample.page):\(sample.line): a console block can't have the marking \(sample.marking)")
            }
            if !sample.given.isEmpty { try prepare(sample) }
            for step in TranscriptStep.steps(of: sample) {
                do {
                    try run(step, in: name)
                } catch let failure as TestFailure {
                    throw TestFailure("\(sample.page):\(step.line): \(step.title): \(failure)")
                }
                if case .command = step.input { count += 1 }
            }
        }
        return count
    }

    /// Runs the given script, up to the first command that fails.
    private func prepare(_ sample: PageSample) throws {
        let script = "cd \(Terminal.quoted(folder))\n" + sample.given.joined(separator: "\n")
        let shell = try ChildProgram(
            "/bin/sh", ["-ec", script], environment: environment,
            label: "the commands given before it")
        let end = try shell.wait(within: patience)
        guard end == .exit(0) else {
            throw TestFailure(
                "\(sample.page):\(sample.line): the commands given before it ended with \(end)\n\(shell.outputText)")
        }
    }

    private func run(_ step: TranscriptStep, in name: String?) throws {
        let terminal = try terminals[name ?? ""] ?? Terminal(folder: folder, environment: environment, columns: columns)
        terminals[name ?? ""] = terminal
        let deadline = Deadline(patience)
        switch step.input {
        case .command(let command):
            if terminal.isBusy { _ = try terminal.output(until: deadline, to: { _ in false }) }
            if let name { unmet[name] = [] }
            terminal.type(try LinePattern.filled(command, known))
        case .interrupt: terminal.interrupt()
        case .nothing: break
        }
        if let name {
            try meetInAnyOrder(step.output, terminal, name, deadline, mustEnd: step.input == .interrupt)
        } else {
            try meet(step.output, try terminal.output(until: deadline, to: { _ in false }))
        }
    }

    /// Compares all output of a command, line by line.
    private func meet(_ wanted: [String], _ came: [String]) throws {
        var patterns = wanted[...]
        var lines = came[...]
        while let pattern = patterns.popFirst() {
            if LinePattern.isAnyLines(pattern) {
                // Skip to the first line that matches the page's next line.
                guard let next = patterns.first else { return }
                while let line = lines.first, LinePattern(next).matches(line, known) == nil { lines.removeFirst() }
                continue
            }
            guard let line = lines.popFirst(), let told = LinePattern(pattern).matches(line, known) else {
                throw TestFailure("the page has\n  \(pattern)\nbut the output is:\n  \(came.joined(separator: "\n  "))")
            }
            known = told
        }
        guard lines.isEmpty else {
            throw TestFailure("the output has more than the page:\n  \(lines.joined(separator: "\n  "))")
        }
    }

    /// Waits for lines of a program that may continue to run.
    private func meetInAnyOrder(
        _ wanted: [String], _ terminal: Terminal, _ name: String, _ deadline: Deadline, mustEnd: Bool
    ) throws {
        var before = unmet[name] ?? []
        var (met, left) = (known, wanted.filter { !LinePattern.isAnyLines($0) })
        func take(_ lines: [String]) -> (lines: [String], met: [String: String], left: [String]) {
            var (lines, met, left) = (lines, known, wanted.filter { !LinePattern.isAnyLines($0) })
            left.removeAll { pattern in
                for (index, line) in lines.enumerated() {
                    guard let told = LinePattern(pattern).matches(line, met) else { continue }
                    met = told
                    lines.remove(at: index)
                    return true
                }
                return false
            }
            return (lines, met, left)
        }
        (_, met, left) = take(before)
        if mustEnd || !left.isEmpty {
            guard terminal.isBusy else {
                throw TestFailure("the program has ended without writing\n  \(left.joined(separator: "\n  "))")
            }
            do {
                before += try terminal.output(until: deadline) { !mustEnd && take(before + $0).left.isEmpty }
            } catch let failure as TestFailure {
                throw TestFailure("the page has\n  \(left.joined(separator: "\n  "))\n\(failure)")
            }
            (_, met, left) = take(before)
        }
        guard left.isEmpty else {
            throw TestFailure(
                "the page has\n  \(left.joined(separator: "\n  "))\nbut the output is:\n  "
                    + "\(before.joined(separator: "\n  "))"
            )
        }
        unmet[name] = take(before).lines
        known = met
    }
}

/// A line that is typed into a terminal, and the output that is expected from it.
struct TranscriptStep {
    enum Input: Equatable {
        case command(String)
        case interrupt
        /// More output of a program that was started in an earlier block.
        case nothing
    }

    let input: Input
    /// The number of the step's first line in the page.
    let line: Int
    private(set) var output: [String] = []

    /// The step's name in failures.
    var title: String {
        switch input {
        case .command(let command): "`\(command)`"
        case .interrupt: "ctrl-C"
        case .nothing: "the output after that"
        }
    }

    /// Returns the steps of a `console` block.
    static func steps(of sample: PageSample) -> [TranscriptStep] {
        var steps: [TranscriptStep] = []
        for (offset, line) in sample.lines.enumerated() {
            let number = sample.line + offset
            if line.hasPrefix("$ ") {
                steps.append(TranscriptStep(input: .command(String(line.dropFirst(2))), line: number))
            } else if line == ">" || line.hasPrefix("> "), let last = steps.last, last.output.isEmpty,
                case .command(let command) = last.input
            {
                steps[steps.count - 1] = TranscriptStep(
                    input: .command(command + "\n" + line.dropFirst(2)), line: last.line)
            } else if line == "^C" {
                steps.append(TranscriptStep(input: .interrupt, line: number))
            } else {
                if steps.isEmpty { steps.append(TranscriptStep(input: .nothing, line: number)) }
                steps[steps.count - 1].output.append(line)
            }
        }
        return steps
    }
}
