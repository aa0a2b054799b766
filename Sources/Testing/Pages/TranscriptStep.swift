/// What is typed into a terminal, and what comes of it.
struct TranscriptStep {
    enum Input: Equatable {
        case command(String)
        case interrupt
        /// More output of what was typed in an earlier block.
        case nothing
    }

    let input: Input
    /// The number of the step's first line in the page.
    let line: Int
    private(set) var output: [String] = []

    /// What is said of it where it fails.
    var title: String {
        switch input {
        case .command(let command): "`\(command)`"
        case .interrupt: "ctrl-C"
        case .nothing: "what comes then"
        }
    }

    /// The steps of a `console` block.
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
