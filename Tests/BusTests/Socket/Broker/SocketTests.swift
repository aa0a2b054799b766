import Glibc
import StrataBus
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// The protocol's section 1: the socket that a broker makes, and what it refuses to replace.
@Suite(.timeLimit(.hang))
struct SocketTests {
    private func start(at path: String) throws {
        let loop = try Loop()
        let broker = try Broker(loop, table: .sixModules(), path: path)
        broker.shutDown {}
        loop.run()
    }

    @Test(.promise("1.2")) func theSocketIsItsUsersAlone() throws {
        try TestBus.run(.sixModules()) { bus in
            var status = stat()
            #expect(lstat(bus.path, &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFSOCK)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    @Test(.promise("1.6")) func aLiveBrokersPathIsRefused() throws {
        try TestBus.run(.sixModules()) { bus in
            let error = #expect(throws: BrokerStartError.self) { try start(at: bus.path) }
            guard case .alreadyRunning(let message) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains(bus.path))
            // The live broker is unharmed.
            _ = try bus.module("Ant")
        }
    }

    @Test(.promise("1.6")) func aDeadSocketIsReplaced() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/bus"
        let bus = try TestBus(.sixModules(), executable: try BuiltExecutable.path("strata-broker"))
        rename(bus.path, path)
        bus.killBroker()
        try bus.stop()
        #expect(SocketAddress.occupant(path) == .dead)
        try start(at: path)
        #expect(folder.contents == [])
    }

    @Test(.promise("1.6")) func aFileThatIsNotASocketIsRefusedAndStays() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/bus"
        let descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        close(descriptor)
        let error = #expect(throws: BrokerStartError.self) { try start(at: path) }
        #expect(error?.description.contains("is not a socket") == true)
        #expect(folder.contents == ["bus"])
        unlink(path)
        symlink("/nowhere", path)
        #expect(throws: BrokerStartError.self) { try start(at: path) }
        #expect(folder.contents == ["bus"])
    }

    @Test(.promise("1.5")) func aPathOver107BytesIsRefusedSayingSo() throws {
        let folder = try TemporaryFolder()
        let longest = folder.path + "/" + String(repeating: "b", count: 107 - folder.path.utf8.count - 1)
        try start(at: longest)
        let error = #expect(throws: BrokerStartError.self) { try start(at: longest + "b") }
        #expect(error?.description.contains("108 bytes") == true)
        #expect(error?.description.contains("107") == true)
        #expect(folder.contents == [])
    }

    @Test(.promise("1.6"), arguments: ["live", "foreign", "long"])
    func theDaemonSaysWhyItDoesNotStart(reason: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let file = "\(bus.folder)/file"
            close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
            let path =
                ["live": bus.path, "foreign": file, "long": "/tmp/" + String(repeating: "x", count: 200)][reason] ?? ""
            let table = "\(bus.folder)/table.json"
            let descriptor = open(table, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
            defer { close(descriptor) }
            let text = Array("\(bus.table.json())".utf8)
            #expect(write(descriptor, text, text.count) == text.count)
            lseek(descriptor, 0, SEEK_SET)
            let daemon = try ChildProgram(
                try BuiltExecutable.path("strata-broker"), ["--table", "3", "--socket", path], third: descriptor)
            #expect(try daemon.wait() == .exit(reason == "live" ? 3 : 2))
            #expect(daemon.outputText.contains("strata-broker: "))
            _ = try bus.module("Ant")
        }
    }

    @Test func aHundredConnectionsComeAndGo() throws {
        try TestBus.run(.sixModules { $0.limits.unregistered = 200 }) { bus in
            for _ in 0..<3 {
                let peers = try (0..<100).map { try bus.connect("\($0)") }
                for peer in peers { peer.close() }
            }
            _ = try bus.module("Ant")
        }
    }
}
