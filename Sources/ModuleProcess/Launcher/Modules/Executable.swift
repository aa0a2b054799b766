import Glibc
import StrataCore
import StrataLoop
import StrataManifest

/// Explains why a program can't be started, and what to do.
enum Executable {
    /// Checks a row's program before it is started; returns nil if no problem is visible.
    ///
    /// The manifest alone determines what runs, because PATH differs between the people who start
    /// the app. PATH is only searched to suggest what may have been meant.
    static func problem(_ executable: String, of process: ModuleProcess) -> String? {
        guard let problem = problem(executable, folder: process.folder) else { return nil }
        guard let name = process.run.first, !name.contains("/"), access(executable, F_OK) != 0,
            let found = inPath(name)
        else { return problem }
        return "\(executable) isn't there, and PATH isn't searched for `run`: write \(found), or "
            + "[/usr/bin/env, \(name), …]"
    }

    /// Returns the program that a shell would find under a name.
    private static func inPath(_ name: String) -> String? {
        guard let path = getenv("PATH") else { return nil }
        return String(cString: path).split(separator: ":").lazy.map { "\($0)/\(name)" }
            .first { $0.hasPrefix("/") && problem($0, folder: "/") == nil }
    }

    /// Checks a program before it is started; returns nil if no problem is visible.
    static func problem(_ path: String, folder: String) -> String? {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            return
                "its folder \(folder) can't be entered: \(String(cString: strerror(errno))); make it, or fix `folder`"
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return "its folder \(folder) is not a folder; fix `folder`"
        }
        guard stat(path, &status) == 0 else {
            return errno == ENOENT
                ? "\(path) isn't there; build it, or fix `run`"
                : "\(path) can't be examined: \(String(cString: strerror(errno)))"
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return "\(path) is not a file; fix `run`" }
        guard access(path, X_OK) == 0 else { return "\(path) is not executable; run chmod +x \(path)" }
        return ProgramFile.isProgram(path) ? nil : noProgram(path)
    }

    private static func noProgram(_ path: String) -> String {
        "\(path) is not a program for this machine; a script needs a first line such as #!/bin/sh"
    }

    /// Explains why a start failed.
    static func explain(_ error: SystemError, _ path: String) -> String {
        switch error.code {
        case ENOEXEC:
            noProgram(path)
        case ENOENT:
            "\(path) can't be started: the interpreter that its first line names, or a loader that it needs, isn't there"
        case EACCES:
            "\(path) can't be started: its user may not execute it, or may not enter its folder"
        case EPERM:
            "\(path) can't be started as another user: the launcher isn't root"
        default:
            "\(path) can't be started: \(String(cString: strerror(error.code)))"
        }
    }

    /// Whether another attempt may succeed.
    static func isTemporary(_ error: SystemError) -> Bool {
        [EAGAIN, ENOMEM, ETXTBSY, EMFILE, ENFILE, EINTR].contains(error.code)
    }
}
