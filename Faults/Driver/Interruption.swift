internal import Glibc

// Because a signal handler may only set a flag, and can't capture anything.
private nonisolated(unsafe) var hasBeenInterrupted = false

/// Notices Ctrl-C, SIGTERM and SIGHUP. The run then ends and cleans up.
enum Interruption {
    static func watch() {
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { _ in hasBeenInterrupted = true } }
    }

    static func check() throws {
        if hasBeenInterrupted { throw RunFailure("interrupted") }
    }
}
