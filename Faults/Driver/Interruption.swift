internal import Glibc

// Because a signal's handler may do no more than set a flag, and closes over nothing.
private nonisolated(unsafe) var hasBeenInterrupted = false

/// Ctrl-C and SIGTERM: the run ends, and cleans up.
enum Interruption {
    static func watch() {
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { _ in hasBeenInterrupted = true } }
    }

    static func check() throws {
        if hasBeenInterrupted { throw RunFailure("interrupted") }
    }
}
