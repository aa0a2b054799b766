import StrataCore

/// Shows JSON that came from the bus: as a line for a program, laid out and
/// coloured for a person.
struct Answer {
    var isForPrograms: Bool
    var painter = Painter.standardOutput

    init(_ output: OutputOption) { isForPrograms = output.isForPrograms }

    /// - Throws: `answer` where it is no JSON: the bus passes bodies on unread.
    func show(_ body: [UInt8]) throws(Failure) {
        if isForPrograms, let line = JSONText.compact(body) {
            StandardOutput.write(line: line)
        } else if !isForPrograms, let text = JSONText.pretty(body, painter) {
            StandardOutput.write(line: text)
        } else {
            throw Failure(
                .answer,
                "the answer is no JSON; whoever sent it has a fault:\n    "
                    + Printable.line(String(decoding: body.prefix(200), as: UTF8.self))
            )
        }
    }

    /// Shows a value of the bus's own.
    func show(_ value: JSON) throws(Failure) { try show(value.encoded()) }

    /// Shows values of the bus's own, a line each.
    func showEach(_ values: [JSON]) throws(Failure) {
        for value in values { try show(value) }
    }
}
