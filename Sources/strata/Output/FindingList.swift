import StrataCore
import StrataManifest

/// Findings about a manifest. A person gets a table. A program gets a line of JSON for each, and
/// the same as text on stderr, for a person who watches.
struct FindingList {
    let findings: [Finding]
    /// The manifest's path. Findings in other files name theirs.
    let manifest: String

    var errors: Int { findings.count { $0.severity == .error } }
    var advice: Int { findings.count { $0.severity == .advice } }
    var notes: Int { findings.count { $0.severity == .note } }

    func show(_ answer: Answer) throws(Failure) {
        if answer.isForPrograms {
            for finding in findings { try answer.show(finding.json) }
            if !StandardOutput.isTerminal {
                for finding in findings { StandardError.write(finding.description) }
            }
            return
        }
        guard !findings.isEmpty else { return }
        var table = Table(columns: [
            .init("LINE", isRight: true), .init("CLASS"), .init("KEY", isFlexible: true),
            .init("FINDING", isFlexible: true),
        ])
        for finding in findings {
            let problem = finding.problem
            table.add([
                .init(problem.file == manifest ? problem.lineAndColumn : problem.place, .dim),
                .init(finding.severity.rawValue, finding.severity.colour),
                .init(problem.key, .bold), .init(problem.message),
            ])
        }
        table.print(answer.painter)
    }

    /// Returns a coloured text like `2 errors, advice: 1, notes: 3`.
    func summary(_ painter: Painter) -> String {
        var text =
            errors == 0
            ? painter.paint("no errors", .green) : painter.paint(errors == 1 ? "1 error" : "\(errors) errors", .red)
        if advice > 0 { text += painter.paint(", advice: \(advice)", .yellow) }
        if notes > 0 { text += painter.paint(", notes: \(notes)", .dim) }
        return text
    }
}

extension ManifestError {
    /// Line and column like `12:7`, as far as they are known.
    var lineAndColumn: String { [line, column].compactMap { $0.map(String.init) }.joined(separator: ":") }

    /// File, line and column like `strata.yaml:12:7`, as far as they are known.
    var place: String { line == nil ? file : "\(file):\(lineAndColumn)" }
}

extension Finding {
    fileprivate var json: JSON {
        .object(
            problem.placeMembers + [
                .init("class", .string(severity.rawValue)), .init("message", .string(problem.message)),
            ])
    }
}

extension Finding.Severity {
    fileprivate var colour: Colour {
        switch self {
        case .error: .red
        case .advice: .yellow
        case .note: .dim
        }
    }
}
