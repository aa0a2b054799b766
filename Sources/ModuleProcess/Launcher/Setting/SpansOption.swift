import Glibc

/// `strata up --spans FILE`.
enum SpansOption {
    /// Looks whether the file can be appended to, and makes it where it isn't
    /// there, for this user alone: spans tell what passes.
    /// - Returns: its path, absolute: modules have other folders.
    static func prepare(_ path: String) throws(LaunchError) -> String {
        guard !path.isEmpty else { throw LaunchError(2, "--spans wants a file's name") }
        let path = path.hasPrefix("/") ? path : "\(SocketChoice.currentFolder)/\(path)"
        // A pipe that nobody reads refuses at once, instead of waiting.
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw LaunchError(2, "the modules' spans can't be written to \(path): \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        return path
    }
}
