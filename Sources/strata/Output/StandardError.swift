import Glibc
import StrataCore

/// What is said to a person beside the output.
enum StandardError {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a message and the end of its line. What a module wrote into it
    /// can't steer the terminal.
    static func write(_ message: String) {
        raw(Printable.text(message) + "\n")
    }

    /// Writes as it is; nothing can be done where that fails.
    static func raw(_ text: String) {
        _ = Descriptor.write(Array(text.utf8), to: STDERR_FILENO)
    }
}
