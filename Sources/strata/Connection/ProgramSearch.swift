import Glibc
import StrataCore

/// Finds programs as a shell does.
enum ProgramSearch {
    /// - Returns: an absolute path, because the program may be executed in another folder.
    static func path(of word: String) throws(Failure) -> String {
        func isProgram(_ path: String) -> Bool {
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
        }
        if word.contains("/") {
            guard let path = realpath(word, nil) else {
                throw Failure(.usage, "\(word) can't be run: \(String(cString: strerror(errno)))")
            }
            free(path)
            guard isProgram(word) else { throw Failure(.usage, "\(word) can't be run: it is not an executable file") }
            return absolute(word)
        }
        for folder in (Environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") {
            let path = "\(folder)/\(word)"
            if isProgram(path) { return absolute(path) }
        }
        throw Failure(.usage, "\(word) isn't found in PATH")
    }

    /// Makes a path absolute, and keeps links, because a program may look at the name that it is
    /// run by.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }
}
