import StrataCore
import StrataManifest

/// The verdict on a message, for a person and for a program.
struct JudgementView {
    private let judgement: Judgement

    init(_ judgement: Judgement) { self.judgement = judgement }

    private var verdict: String {
        guard let code = judgement.code else {
            return judgement.depends ? "allowed, as far as can be known" : "allowed"
        }
        return "refused, \(code)"
    }

    func show(_ painter: Painter) {
        StandardOutput.write(
            line: "\(painter.paint(Printable.line(judgement.subject), .bold)): "
                + painter.paint(verdict, judgement.isAllowed ? .green : .red))
        var checks = Table(columns: [
            .init("CHECK"), .init("RESULT"), .init("WHY", isFlexible: true), .init("PLACE", isFlexible: true),
        ])
        for check in judgement.checks {
            checks.add([
                .init(check.name), .init(check.result.rawValue, check.result.colour), .init(check.reason),
                .init(check.place?.place ?? "", .dim),
            ])
        }
        checks.print(painter)
        showRecipients(painter)
        showChanges()
    }

    /// Shows the needed changes: all of them are needed, but only one of each list of
    /// alternatives.
    private func showChanges() {
        guard let first = judgement.changes.first else { return }
        guard judgement.changes.count > 1 else {
            StandardOutput.write(
                line: first.count == 1 ? "\nWhat would change it:" : "\nWhat would change it, any one of these:")
            return first.forEach { Self.item($0, indent: 2) }
        }
        StandardOutput.write(line: "\nWhat would change it, all of these together:")
        for alternatives in judgement.changes {
            guard alternatives.count > 1 else {
                Self.item(alternatives[0], indent: 2)
                continue
            }
            Self.item("any one of these:", indent: 2)
            for one in alternatives { Self.item(one, indent: 4) }
        }
    }

    private static func item(_ text: String, indent: Int) {
        let lines = Paragraph.lines(Printable.line(text), width: Table.terminalWidth - indent - 2)
        for (place, line) in lines.enumerated() {
            StandardOutput.write(line: String(repeating: " ", count: indent) + (place == 0 ? "- " : "  ") + line)
        }
    }

    private func showRecipients(_ painter: Painter) {
        guard !judgement.recipients.isEmpty else {
            if judgement.checks.allSatisfy({ $0.name != StrataCore.Check.existence.name }) {
                StandardOutput.write(line: "\nNo module observes it.")
            }
            return
        }
        var table = Table(columns: [
            .init("MODULE", isFlexible: true), .init("LEVEL", isFlexible: true), .init("GETS IT"),
            .init("WHY", isFlexible: true), .init("PLACE", isFlexible: true),
        ])
        for recipient in judgement.recipients {
            table.add([
                .init(recipient.module, .bold), .init(recipient.level),
                .init(recipient.gets ? "yes" : "no", recipient.gets ? .green : .red), .init(recipient.reason),
                .init(recipient.place?.place ?? "", .dim),
            ])
        }
        StandardOutput.write(line: "")
        table.print(painter)
    }

    var json: JSON { judgement.json }
}

extension Judgement.Check.Result {
    fileprivate var colour: Colour {
        switch self {
        case .passed: .green
        case .refused: .red
        case .free: .dim
        case .depends: .yellow
        }
    }
}
