import Glibc
import StrataLauncher
import StrataManifest

/// Builds the package of an app's modules with `swift build`, before the app starts.
struct PackageBuild {
    /// SwiftPM's name for a set of compiler options.
    enum Configuration: String, CaseIterable { case debug, release }

    /// The folder of the package.
    let folder: String
    let configuration: Configuration

    /// - Parameters:
    ///   - manifest: its package is the nearest one in its folder or in a folder around it.
    ///   - configuration: nil chooses the one of the modules' programs: release if one of them is
    ///     in `.build/release`, else debug.
    /// - Returns: nil if there is no package.
    init?(of manifest: Manifest, _ configuration: Configuration?) {
        var folder = manifest.folder
        while access("\(folder)/Package.swift", F_OK) != 0 {
            guard let slash = folder.lastIndex(of: "/"), folder != "/" else { return nil }
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
        }
        self.folder = folder
        let programs = manifest.processes.compactMap(\.executable)
        self.configuration =
            configuration ?? (programs.contains { $0.contains("/.build/release/") } ? .release : .debug)
    }

    /// The command that builds it; the first word is a name for PATH.
    var words: [String] {
        ["swift", "build", "--package-path", folder, "--configuration", configuration.rawValue]
    }

    /// Runs the build, and returns when it is done. The output of `swift build` goes to stderr,
    /// because stdout belongs to the app.
    /// - Throws: `answer` if the build fails. The compiler has already said why.
    func run() throws(Failure) {
        StandardError.write("building \(folder)")
        let status = try Self.execute(words)
        guard status == 0 else {
            let how = status & 0x7F == 0 ? "exit code \((status >> 8) & 0xFF)" : "signal \(status & 0x7F)"
            throw Failure(.answer, "\(words.joined(separator: " ")) ended with \(how): the app isn't started")
        }
    }

    /// - Returns: the status from waitpid(2).
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
                    .answer, "--build: can't wait for \(words[0]) to end: \(String(cString: strerror(errno)))")
            }
        }
        return status
    }
}
