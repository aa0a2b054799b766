import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// Which sockets are used as another app's: the user alone can have put them there.
@Suite(.timeLimit(.hang))
struct OtherAppSocketTests {
    /// A folder with a socket that this process listens on.
    private final class App {
        let folder: TemporaryFolder
        let descriptor: Int32
        var path: String { "\(folder.path)/catalog.sock" }

        init() throws {
            folder = try TemporaryFolder()
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let status = withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(status == 0)
        }

        deinit { close(descriptor) }

        func listen() { #expect(Glibc.listen(descriptor, 0) == 0) }
    }

    /// Returns the reason why a socket isn't used; nil if it is.
    private func problem(_ path: String, user: UInt32 = geteuid(), own: String? = nil) -> String? {
        do {
            let found = try OtherAppSocket(path, user: user, isShared: true, own: own).connect()
            #expect(found.listener.pid == getpid() && found.listener.uid == geteuid())
            close(found.descriptor)
            return nil
        } catch {
            return error.message
        }
    }

    @Test(.promise("1.20")) func aSocketOfTheUserIsUsed() throws {
        let app = try App()
        #expect(problem(app.path) == "nobody listens")
        app.listen()
        #expect(problem(app.path) == nil)
        #expect(problem("\(app.folder.path)/nothing.sock") == "there is no socket")
        #expect(problem("/nowhere/nothing.sock") == "there is no socket")
    }

    @Test(.promise("1.20")) func connectingNeverWaits() throws {
        let app = try App()
        app.listen()
        var open: [Int32] = []
        defer { for descriptor in open { close(descriptor) } }
        // The backlog of 0 takes one connection.
        while open.count < 8, let descriptor = try? connect(app.path) { open.append(descriptor) }
        #expect(open.count < 8)
        #expect(problem(app.path) == "too many connections wait for it")
    }

    private func connect(_ path: String) throws -> Int32 {
        try OtherAppSocket(path, user: geteuid(), isShared: true, own: nil).connect().descriptor
    }

    /// Whoever has the path by then, the socket that was looked at is connected to, or none.
    @Test(.promise("1.20")) func aSocketThatIsReplacedAfterTheLookIsNotConnectedTo() throws {
        let (app, other) = (try App(), try App())
        app.listen()
        other.listen()
        let found = try OtherAppSocket(app.path, user: geteuid(), isShared: true, own: nil)
        #expect(rename(other.path, app.path) == 0)
        let connected = try found.connect().descriptor
        defer { close(connected) }
        let accepted = accept(app.descriptor, nil, nil)
        #expect(accepted >= 0)
        close(accepted)
        _ = fcntl(other.descriptor, F_SETFL, O_NONBLOCK)
        #expect(accept(other.descriptor, nil, nil) == -1 && errno == EAGAIN)
        // Nor is a folder that takes the place of its folder.
        let second = try OtherAppSocket(app.path, user: geteuid(), isShared: true, own: nil)
        #expect(rename(app.folder.path, "\(app.folder.path)-moved") == 0)
        mkdir(app.folder.path, 0o700)
        defer {
            unlink("\(app.folder.path)-moved/catalog.sock")
            rmdir("\(app.folder.path)-moved")
        }
        let again = try second.connect().descriptor
        defer { close(again) }
        let taken = accept(other.descriptor, nil, nil)
        #expect(taken >= 0)
        close(taken)
    }

    @Test(.promise("1.21")) func theAppsOwnSocketIsRefusedByWhicheverPath() throws {
        let app = try App()
        app.listen()
        let folder = try TemporaryFolder()
        link(app.path, "\(folder.path)/catalog.sock")
        let reason = "it is this app's own socket, whose URLs have the manifest's schemes and need no opens"
        for path in [app.path, "\(app.folder.path)//catalog.sock", "\(folder.path)/catalog.sock"] {
            #expect(problem(path, own: app.path) == reason)
        }
        let other = try App()
        other.listen()
        #expect(problem(other.path, own: app.path) == nil)
        #expect(problem(app.path, own: "/nowhere/nothing.sock") == nil)
    }

    @Test(.promise("1.20"), arguments: [0o770, 0o702, 0o1777] as [mode_t])
    func aFolderThatOthersMayWriteToIsRefused(mode: mode_t) throws {
        let app = try App()
        app.listen()
        chmod(app.folder.path, mode)
        #expect(problem(app.path) == "other users may write to its folder")
    }

    @Test(.promise("1.20")) func linksAndFilesAreRefused() throws {
        let app = try App()
        app.listen()
        let folder = try TemporaryFolder()
        symlink(app.folder.path, "\(folder.path)/link")
        symlink(app.path, "\(folder.path)/catalog.sock")
        close(open("\(folder.path)/file", O_CREAT | O_WRONLY, 0o600))
        #expect(problem("\(folder.path)/link/catalog.sock") == "its folder is a link or not a folder")
        #expect(problem("\(folder.path)/catalog.sock") == "it isn't a socket")
        #expect(problem("\(folder.path)/file") == "it isn't a socket")
        #expect(problem("\(folder.path)/file/catalog.sock") == "its folder is a link or not a folder")
    }

    /// Giving files away takes root, which is whom the gate runs as.
    @Test(.promise("1.20"), .enabled(if: geteuid() == 0)) func anotherUsersFolderSocketAndListenerAreRefused() throws {
        let app = try App()
        app.listen()
        chown(app.folder.path, 4242, 4242)
        #expect(problem(app.path) == "its folder belongs to user 4242, not to 0")
        chown(app.folder.path, 0, 0)
        chown(app.path, 4242, 4242)
        #expect(problem(app.path) == "it belongs to user 4242, not to 0")
        // Root may listen for another user, as a service manager does.
        chown(app.folder.path, 4242, 4242)
        #expect(problem(app.path, user: 4242) == nil)
        #expect(problem(app.path, user: 4243) == "its folder belongs to user 4242, not to 4243")
    }

    @Test(.promise("1.20")) func theDefaultPathsAreTriedInOrder() {
        #expect(
            OtherAppSocket.paths(.name("catalog"), user: 7, own: 7, runtimeFolder: "/run/own") == [
                "/tmp/strata-7-catalog/catalog.sock", "/run/own/strata/catalog.sock", "/tmp/strata-7/catalog.sock",
            ])
        #expect(
            OtherAppSocket.paths(.name("catalog"), user: 8, own: 7, runtimeFolder: nil) == [
                "/tmp/strata-8-catalog/catalog.sock", "/run/user/8/strata/catalog.sock", "/tmp/strata-8/catalog.sock",
            ])
        #expect(OtherAppSocket.paths(.socket("/run/x"), user: 8, own: 7, runtimeFolder: nil) == ["/run/x"])
    }
}
