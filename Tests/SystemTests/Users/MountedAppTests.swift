import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

/// Default paths of another user with file systems of their own in them, whose programs could let a
/// broker wait. Each test mounts them in a namespace of its own.
@Suite(.timeLimit(.hang), .enabled(if: geteuid() == 0, "only root can mount a file system"))
struct MountedAppTests {
    private static let user = "nobody"

    /// What is mounted, in a shell's words, and why the socket isn't used. FOLDER is the app's own
    /// folder, APP its name, UID the user.
    struct Case: Sendable {
        let script: String
        let reason: String
    }

    @Test(
        .promise("1.20"),
        arguments: [
            Case(script: "true", reason: "FOLDER/APP.sock: there is no socket"),
            Case(
                script: "mount -t tmpfs -o uid=UID,mode=700 none FOLDER",
                reason: "FOLDER/APP.sock: its folder is a file system of its own"),
            Case(
                script: "> FOLDER/APP.sock && mount --bind /dev/null FOLDER/APP.sock",
                reason: "FOLDER/APP.sock: it is a file system of its own"),
            Case(
                script: "mount -t tmpfs none /run && mkdir -p /run/user/UID && mount -t ramfs none /run/user/UID && "
                    + "mkdir -m 700 /run/user/UID/strata",
                reason: "/run/user/UID/strata/APP.sock: /run/user/UID is a file system of its own, and no tmpfs"),
            Case(
                script: "mount -t tmpfs none /run && mkdir -p /run/user/UID && mount -t tmpfs none /run/user/UID && "
                    + "mkdir -m 700 /run/user/UID/strata",
                reason: "/run/user/UID/strata/APP.sock: there is no socket"),
        ])
    func aFileSystemOfTheUsersOwnIsNotEntered(_ mounted: Case) throws {
        let probe = try ChildProgram("/usr/bin/unshare", ["--mount", "/bin/true"])
        if try probe.wait() != .exit(0) { try Test.cancel("no namespace can be made here: \(probe.outputText)") }
        let user = try #require(getpwnam(Self.user)?.pointee)
        let (uid, gid) = (user.pw_uid, user.pw_gid)
        let folder = try TemporaryFolder()
        let app = "mounted-\(getpid())-\(folder.path.suffix(6).lowercased())"
        let own = "/tmp/strata-\(uid)-\(app)"
        mkdir(own, 0o700)
        chown(own, uid, gid)
        defer {
            unlink("\(own)/\(app).sock")
            rmdir(own)
        }
        func filled(_ text: String) -> String {
            text.replacing("FOLDER", with: own).replacing("APP", with: app).replacing("UID", with: "\(uid)")
        }
        let manifest = try folder.file(
            "strata.yaml",
            "app: shop\nmodules:\n  Hand: {start: manual, opens: {catalog: {app: \(app), user: \(Self.user)}}}\n")
        let socket = "\(folder.path)/shop.sock"
        let broker = try ChildProgram(
            "/usr/bin/unshare",
            [
                "--mount", "/bin/sh", "-c", filled(mounted.script) + #" && exec "$0" "$@""#,
                try BuiltExecutable.path("strata"), "broker", manifest, "--socket", socket,
            ])
        defer { broker.kill() }
        _ = try Loop().run {
            SocketAddress.occupant(socket) == .live || (try? broker.wait(within: .milliseconds(1))) != nil
        }
        try #require(broker.end == nil, "\(broker.outputText)")
        let hand = try RawPeer(path: socket, label: "Hand", answersLifecycle: true)
        try hand.hello("Hand")
        try hand.becomeReady()
        let error = try hand.expectError(to: try hand.open("catalog://item/7"), "unavailable", ran: "no")
        #expect(error.message.contains(filled(mounted.reason)), "\(error.message)")
        hand.close()
        broker.send(signal: SIGTERM)
        #expect(try broker.wait() == .exit(0))
    }
}
