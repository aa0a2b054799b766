import Glibc
import StrataCore
import StrataOperator

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

/// Why a command did not do what it was asked to: what stands on stderr, and
/// the exit code.
struct Failure: Error {
    /// The program's exit codes.
    enum Status: Int32 {
        case done = 0
        /// The answer was an error.
        case answer = 1
        /// Bad usage, a bad manifest, an unusable path.
        case usage = 2
        /// No bus there, or one there already.
        case noBus = 3
    }

    var status: Status
    /// Without `strata: ` before it; further lines are hints.
    var message: String
    /// The bus's or the callee's error code, where it was one.
    var code: ErrorCode?
    /// Written without `strata: ` before it: each line begins with its place.
    var isPlain = false

    init(_ status: Status, _ message: String, code: ErrorCode? = nil, isPlain: Bool = false) {
        self.status = status
        self.message = message
        self.code = code
        self.isPlain = isPlain
    }

    /// An error that the bus or a callee answered.
    init(_ error: BusError) {
        self.init(
            .answer, "\(Printable.line(error.code.rawValue)): \(Printable.indented(error.message))", code: error.code)
        if error.ran == .maybe { message += "\nIt was delivered, and may have been done." }
        if !error.body.isEmpty, let details = JSONText.compact(error.body) {
            message += "\n\(String(decoding: details, as: UTF8.self))"
        }
    }

    init(_ error: ClientError) {
        switch error {
        case .noBus(let message): self.init(.noBus, message)
        case .unusable(let message): self.init(.usage, message)
        case .unreadable(let message): self.init(.answer, message)
        case .refused(let error): self.init(error)
        case .quiet(let milliseconds): self.init(quietFor: milliseconds)
        }
    }

    /// A stream whose next reply didn't come in time.
    init(quietFor milliseconds: UInt64) {
        self.init(
            .answer,
            "deadline-exceeded: the stream was quiet for \(Duration.text(milliseconds)): --timeout TIME waits longer, "
                + "and 0 without end",
            code: .deadlineExceeded)
    }

    /// Writes it to stderr.
    func report() { StandardError.write(isPlain ? message : "strata: \(message)") }
}

/// Ends the process without running anything else.
func exitNow(_ status: Failure.Status) -> Never { exit(status.rawValue) }
