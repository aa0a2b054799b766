import Glibc
import StrataLauncher
import StrataManifest

/// Builds the package that an app's modules are of, by `swift build`, before the
/// app starts.
struct PackageBuild {
    /// What SwiftPM calls a set of compiler options.
    enum Configuration: String, CaseIterable { case debug, release }

    /// The package's folder.
    let folder: String
    let configuration: Configuration

    /// - Parameters:
    ///   - path: the manifest's. The package is the nearest one, in its folder or
    ///     around it.
    ///   - configuration: nil is that of the modules' programs: release where one is
    ///     in `.build/release`, else debug.
    /// - Throws: `usage` where there is no package.
    init(of manifest: Manifest, at path: String, _ configuration: Configuration?) throws(Failure) {
        let slash = path.lastIndex(of: "/")
        let start = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard let resolved = realpath(start, nil) else {
            throw Failure(.usage, "\(start): \(String(cString: strerror(errno)))")
        }
        defer { free(resolved) }
        var folder = String(cString: resolved)
        while access("\(folder)/Package.swift", F_OK) != 0 {
            guard let slash = folder.lastIndex(of: "/"), folder != "/" else {
                throw Failure(
                    .usage, "--build: no Package.swift is in \(String(cString: resolved)) or in a folder around it")
            }
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
        }
        self.folder = folder
        let programs = manifest.processes.compactMap(\.executable)
        self.configuration =
            configuration ?? (programs.contains { $0.contains("/.build/release/") } ? .release : .debug)
    }

    /// Builds, and returns when that is done. What `swift build` writes goes to
    /// stderr: stdout is the app's.
    /// - Throws: `answer` where it fails; the compiler has said why.
    func run() throws(Failure) {
        let words = ["swift", "build", "--package-path", folder, "--configuration", configuration.rawValue]
        StandardError.write("building \(folder)")
        let status = try Self.execute(words)
        guard status == 0 else {
            let how = status & 0x7F == 0 ? "exit code \((status >> 8) & 0xFF)" : "signal \(status & 0x7F)"
            throw Failure(.answer, "\(words.joined(separator: " ")) ended with \(how): the app isn't started")
        }
    }

    /// - Returns: what waitpid(2) says.
    private static func execute(_ words: [String]) throws(Failure) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        let arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words[0], &actions, nil, arguments, environ)
        guard code == 0 else {
            throw Failure(.usage, "--build: \(words[0]) can't be started: \(String(cString: strerror(code)))")
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else {
                throw Failure(
                    .answer, "--build: the end of \(words[0]) can't be waited for: \(String(cString: strerror(errno)))")
            }
        }
        return status
    }
}
