import Foundation
import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// An app with a group and its socket at the default path. Its modules and tools belong to
/// several users of this system. It needs root.
final class UserApp {
    /// An entry of `/etc/passwd` that every Debian has.
    struct User: Sendable {
        var name: String
        var uid: UInt32
        var gid: UInt32

        init?(_ name: String) {
            guard let entry = getpwnam(name)?.pointee else { return nil }
            (self.name, uid, gid) = (name, entry.pw_uid, entry.pw_gid)
        }
    }

    /// The socket's group, which is the listed operator's own.
    static let group = "games"
    static let listed = User("games")
    /// The user as whom a module runs.
    static let module = User("nobody")
    static let stranger = User("daemon")

    /// The reason why these tests can't run here; nil if they can.
    static let obstacle: String? = {
        if geteuid() != 0 { return "only root can run processes as other users" }
        if listed == nil || module == nil || stranger == nil || getgrnam(group) == nil {
            return "the users games, nobody and daemon, and the group games, aren't all there"
        }
        if access(setpriv, X_OK) != 0 { return "\(setpriv) isn't there" }
        return nil
    }()

    private static let setpriv = "/usr/bin/setpriv"

    let running: UpProcess
    private let name: String

    /// - Parameters:
    ///   - rows: the manifest's rows, indented by two spaces. FIXTURE is the module's program.
    ///   - scripts: executable for everyone, beside the manifest.
    init(_ name: String, _ rows: String, scripts: [String: String] = [:]) throws {
        self.name = "\(name)-\(getpid())"
        running = try UpProcess(
            """
            app: \(self.name)
            group: \(Self.group)
            operators: [\(Self.listed?.name ?? "")]
            modules:
            \(rows.replacing("FIXTURE", with: "bin/StrataFixture"))
            """, scripts: scripts)
        running.standardSocket = SocketPath.standard(app: self.name, hasGroup: true)
        // The build folder may be closed to other users.
        let programs = running.folder + "/bin"
        chmod(running.folder, 0o755)
        mkdir(programs, 0o755)
        chmod(programs, 0o755)
        for program in ["StrataFixture", "StrataConnector", "strata", "strata-broker"] {
            // A separate process copies it. Otherwise another test's child could inherit the open
            // file while it is written, and then it couldn't be executed.
            let copy = try ChildProgram(
                "/usr/bin/install", ["-m", "755", try BuiltExecutable.path(program), programs])
            try #require(try copy.wait() == .exit(0), "\(copy.outputText)")
        }
    }

    var programs: String { running.folder + "/bin" }

    /// Runs a program as a user, whose only group is the app's or the user's own.
    func run(as user: User?, inGroup: Bool, _ words: [String], environment: [String: String] = [:]) throws
        -> (end: ChildProgram.End, output: String)
    {
        let program = try begin(as: user, inGroup: inGroup, words, environment: environment)
        let end = try program.wait()
        return (end, program.outputText)
    }

    /// Starts such a program, without waiting for its end.
    func begin(as user: User?, inGroup: Bool = true, _ words: [String], environment: [String: String] = [:]) throws
        -> ChildProgram
    {
        let user = try #require(user)
        let group = inGroup ? getgrnam(Self.group).pointee.gr_gid : user.gid
        return try ChildProgram(
            Self.setpriv, ["--reuid", "\(user.uid)", "--regid", "\(group)", "--clear-groups"] + words,
            environment: environment.merging(["STRATA_SOCKET": running.socket]) { given, _ in given })
    }

    /// Runs `strata …` as a user.
    func strata(as user: User?, inGroup: Bool = true, _ words: String...) throws
        -> (end: ChildProgram.End, output: String)
    {
        try run(as: user, inGroup: inGroup, ["\(programs)/strata"] + words)
    }

    /// Waits until modules are ready.
    func awaitReady(_ modules: String...) throws {
        try running.until {
            modules.allSatisfy { module in
                running.lines.contains { $0.hasPrefix("\(module) ") && $0.contains("ready after") }
            }
        }
    }

    func cleanUp() {
        try? FileManager.default.removeItem(atPath: programs)
        running.cleanUp()
    }

    /// Cancels the test if other users can't run the programs: their libraries may be closed to
    /// them.
    func requireReachable() throws {
        let (end, output) = try run(as: Self.stranger, inGroup: false, ["\(programs)/strata", "--version"])
        if end != .exit(0) { try Test.cancel("other users can't run what is built here: \(output)") }
    }
}
