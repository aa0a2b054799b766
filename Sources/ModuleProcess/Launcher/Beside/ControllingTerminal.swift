import Glibc

/// The terminal that this process belongs to.
enum ControllingTerminal {
    /// Whether it sends its ctrl-C to this process, and to all others of the process group.
    static var isInForeground: Bool {
        let terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        defer { close(terminal) }
        return tcgetpgrp(terminal) == getpgrp()
    }
}
