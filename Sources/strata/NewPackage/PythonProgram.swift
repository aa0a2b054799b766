import Glibc
import StrataCore
import StrataLoop

/// Runs `python3`, which writes the client for new programs in Python.
enum PythonProgram {
    /// Returns the package `strata_bus` as one file.
    /// - Parameter dependency: The strata package that has it.
    /// - Throws: `usage` if there is no `python3`, or no such package in a folder.
    static func bundle(of dependency: StrataDependency) throws(Failure) -> String {
        guard let folder = dependency.folder else {
            throw Failure(
                .usage,
                "--python needs strata's package in a folder, to make strata_bus.py of: give its "
                    + "folder with --strata")
        }
        return try output(of: ["\(folder)/clients/python/bundle"])
    }

    /// Refuses a name whose file would hide one of Python's own modules.
    static func checkFile(_ name: String, of module: String) throws(Failure) {
        let script = "import sys; print(sys.argv[1] in sys.stdlib_module_names)"
        guard try output(of: ["-c", script, name]) != "True\n" else {
            throw Failure(
                .usage,
                "\(module) can't name a module in Python: \(name).py would hide Python's own module \(name); "
                    + "choose another name")
        }
    }

    private static func output(of arguments: [String]) throws(Failure) -> String {
        let program = try ProgramSearch.path(of: "python3")
        let pipe: Pipe
        do throws(SystemError) { pipe = try Pipe(readingBlocks: true) } catch { throw Failure(.answer, "\(error)") }
        defer { pipe.closeReading() }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipe.writing, STDOUT_FILENO)
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, program, &actions, nil, words, environ)
        pipe.closeWriting()
        guard code == 0 else { throw failure("\(program) can't be started", code) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(pipe.reading, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            throw Failure(.usage, "\(program) \(arguments[0]) failed; it needs Python 3.11 or newer")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func failure(_ what: String, _ code: Int32) -> Failure {
        Failure(.usage, "\(what): \(String(cString: strerror(code)))")
    }
}
