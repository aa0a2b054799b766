import Glibc
import StrataCore

/// The output of a command: tables for a person, lines of JSON for a program.
///
/// Each write is complete before the next one begins, so that a reader sees each line as it
/// comes.
enum StandardOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    static func write(line: String) { write(Array(line.utf8) + [UInt8(ascii: "\n")]) }

    static func write(line: [UInt8]) { write(line + [UInt8(ascii: "\n")]) }

    /// Writes all bytes, or ends the process; quietly if the reader is gone. On a terminal,
    /// control characters are made harmless, and JSON keeps its value.
    static func write(_ bytes: [UInt8]) {
        raw(isTerminal ? Array(Printable.terminal(String(decoding: bytes, as: UTF8.self)).utf8) : bytes)
    }

    /// Writes bytes as they are, to control the terminal on purpose.
    static func raw(_ bytes: [UInt8]) {
        let code = Descriptor.write(bytes, to: STDOUT_FILENO)
        guard code != 0 else { return }
        if code == EPIPE {
            // End as this process would have if it didn't ignore SIGPIPE.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
            exit(128 + SIGPIPE)
        }
        StandardError.write("strata: the output can't be written: \(String(cString: strerror(code)))")
        exitNow(.answer)
    }
}

/// Writing to a descriptor that may be slow or closed. Another process that shares it may have
/// made it non-blocking.
enum Descriptor {
    /// Writes all bytes.
    /// - Returns: 0, or an errno.
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

    /// Reads all bytes until the end; nil if that fails.
    static func content(of descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }
}

/// Messages to a person, beside the output.
enum StandardError {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a message and a newline. Control characters, which may come from a module, can't
    /// control the terminal.
    static func write(_ message: String) {
        raw(Printable.text(message) + "\n")
    }

    /// Writes text as it is. Nothing can be done if that fails.
    static func raw(_ text: String) {
        _ = Descriptor.write(Array(text.utf8), to: STDERR_FILENO)
    }
}
