package import Glibc

/// The attributes of a program that starts as a person's shell starts it: it blocks no signal, and
/// ctrl-C ends it.
///
/// Without them it would inherit what this process has. A test's thread may block signals, so that
/// SIGTERM would never arrive. A script's background commands ignore SIGINT and SIGQUIT, and so do
/// tests that are started like that.
package enum SpawnAttributes {
    /// Makes attributes, which the caller destroys.
    /// - Parameter flags: further flags of `posix_spawnattr_setflags`.
    package static func make(_ flags: Int32 = 0) -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGQUIT)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | flags))
        return attributes
    }
}
