import Glibc
import StrataCore
import StrataOperator

/// Shows JSON from the bus: as a line for a program, or indented and coloured for a person.
struct Answer {
    var isForPrograms: Bool
    var painter = Painter.standardOutput

    init(_ output: OutputOption) { isForPrograms = output.isForPrograms }

    /// - Throws: `answer` if the body is not JSON. The bus passes bodies on unread.
    func show(_ body: [UInt8]) throws(Failure) {
        if isForPrograms, let line = JSONText.compact(body) {
            StandardOutput.write(line: line)
        } else if !isForPrograms, let text = JSONText.pretty(body, painter) {
            StandardOutput.write(line: text)
        } else {
            throw Failure(
                .answer,
                "the answer is not JSON; its sender has a fault:\n    "
                    + Printable.line(String(decoding: body.prefix(200), as: UTF8.self))
            )
        }
    }

    /// Shows a value from the bus itself.
    func show(_ value: JSON) throws(Failure) { try show(value.encoded()) }

    /// Shows values from the bus itself, one on each line.
    func showEach(_ values: [JSON]) throws(Failure) {
        for value in values { try show(value) }
    }
}

/// The reason why a command failed: the message on stderr, and the exit code.
struct Failure: Error {
    /// The program's exit codes.
    enum Status: Int32 {
        case done = 0
        /// The answer was an error.
        case answer = 1
        /// Bad usage, a bad manifest or an unusable path.
        case usage = 2
        /// No bus runs there, or one runs there already.
        case noBus = 3
    }

    var status: Status
    /// The message without `strata: ` before it. Its further lines are hints.
    var message: String
    /// The error code from the bus or the callee, if there is one.
    var code: ErrorCode?
    /// Whether the message is written without `strata: `, because each line begins with its
    /// place.
    var isPlain = false

    init(_ status: Status, _ message: String, code: ErrorCode? = nil, isPlain: Bool = false) {
        self.status = status
        self.message = message
        self.code = code
        self.isPlain = isPlain
    }

    /// Makes a failure from an error that the bus or a callee answered.
    init(_ error: BusError) {
        self.init(
            .answer, "\(Printable.line(error.code.rawValue)): \(Printable.indented(error.message))", code: error.code)
        if let root = error.root, !error.message.contains("\(root)") {
            message += "\n  cause: \(Printable.line("\(root)"))"
        }
        if error.ran == .maybe { message += "\nIt was delivered, and may have been carried out." }
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

    /// Makes a failure for a stream whose next reply didn't come in time.
    init(quietFor milliseconds: UInt64) {
        self.init(
            .answer,
            "deadline-exceeded: the stream was quiet for \(Duration.text(milliseconds)): --timeout TIME waits "
                + "longer, and 0 without limit",
            code: .deadlineExceeded)
    }

    /// Writes the message to stderr.
    func report() { StandardError.write(isPlain ? message : "strata: \(message)") }
}

/// Ends the process without running any more of the command.
func exitNow(_ status: Failure.Status) -> Never { exit(status.rawValue) }
