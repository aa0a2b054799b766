import Glibc
import StrataCore

/// What the command was asked for: tables for a person, lines of JSON for a
/// program.
///
/// Each write goes out whole before the next one, so that a reader sees each
/// line as it comes.
enum StandardOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    static func write(line: String) { write(Array(line.utf8) + [UInt8(ascii: "\n")]) }

    static func write(line: [UInt8]) { write(line + [UInt8(ascii: "\n")]) }

    /// Writes all, or ends the process: quietly where nobody reads any more. On a
    /// terminal nothing steers it; JSON stays the same value.
    static func write(_ bytes: [UInt8]) {
        raw(isTerminal ? Array(Printable.terminal(String(decoding: bytes, as: UTF8.self)).utf8) : bytes)
    }

    /// Writes as it is: what steers the terminal on purpose.
    static func raw(_ bytes: [UInt8]) {
        let code = Descriptor.write(bytes, to: STDOUT_FILENO)
        guard code != 0 else { return }
        if code == EPIPE {
            // As it would have ended where SIGPIPE isn't ignored.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
            exit(128 + SIGPIPE)
        }
        StandardError.write("strata: the output can't be written: \(String(cString: strerror(code)))")
        exitNow(.answer)
    }
}

/// Writing to a descriptor that may be slow, closed, or set not to block by
/// somebody who shares it.
enum Descriptor {
    /// Returns 0, or an errno.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                    continue
                }
                switch errno {
                case EINTR: continue
                case EAGAIN:
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&waiting, 1, -1)
                case let code: return code
                }
            }
            return 0
        }
    }
}

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
