import Glibc
import StrataCore
import StrataTesting
import Testing

@testable import StrataLink

/// What the launcher may tell the link, and the file of a key.
struct LinkConfigurationTests {
    private static let members: [JSON.Member] = [
        .init("app", "moments"), .init("node", "berlin"), .init("nodes", ["tokyo", "osaka"]),
        .init("servers", ["tls://n1.example:4222", "tls://n2.example"]), .init("key", "/k"), .init("ca", "/c"),
        .init("window", 65_536), .init("lost", 2_000), .init("socket", "/s"), .init("token", "t"),
    ]

    private func read(_ name: String = "", _ value: JSON = nil) throws -> LinkConfiguration {
        try LinkConfiguration(json: .object(Self.members.filter { $0.name != name } + [.init(name, value)]))
    }

    @Test func aConfigurationIsRead() throws {
        let configuration = try read()
        #expect(configuration.others == ["tokyo", "osaka"])
        #expect(configuration.servers.map(\.host) == ["n1.example", "n2.example"])
        #expect(configuration.window == 65_536)
        #expect(configuration.lost == 2_000)
        #expect(!configuration.isUnguarded)
        let short = try LinkConfiguration(
            json: [
                "app": "moments", "node": "berlin", "nodes": ["tokyo"], "servers": ["nats://localhost:4222"],
                "socket": "/s", "token": "t",
            ])
        #expect(short.key == nil)
        #expect(short.window == 4 << 20)
        #expect(short.lost == 5_000)
    }

    @Test(
        arguments: [
            ("app", "A"), ("app", nil), ("node", "-a"), ("node", "tokyo"), ("node", 1), ("nodes", []),
            ("nodes", "tokyo"),
            ("nodes", ["tokyo", "tokyo"]), ("nodes", ["tokyo", 1]), ("nodes", ["a.b"]), ("servers", []), ("key", ""),
            ("window", 65_535), ("window", 33_554_433), ("lost", 1_999), ("lost", 60_001), ("unguarded", "yes"),
            ("socket", nil), ("token", nil), ("servers", ["tls://a", "nats://127.0.0.1"]),
        ] as [(String, JSON)])
    func badMembersAreNamed(name: String, value: JSON) {
        let error = #expect(throws: LinkError.self) { try read(name, value) }
        #expect(error?.description.contains(name) == true || name.hasPrefix("node"), "\(error as Any)")
    }

    @Test func moreThan31OtherNodesAreRefused() throws {
        let names = (0..<32).map { JSON.string("n\($0)") }
        #expect(try read("nodes", .array(Array(names.dropLast()))).others.count == 31)
        #expect(throws: LinkError.self) { try read("nodes", .array(names)) }
    }

    @Test(arguments: [
        ("tls://n1.example:4222", "n1.example"), ("nats://127.0.0.1:4222", "127.0.0.1"),
        ("nats://localhost", "localhost"),
        ("nats://127.3.2.1", "127.3.2.1"), ("nats://[::1]:4222", "::1"), ("tls://[fe80::1]:1", "fe80::1"),
    ])
    func anAddressHasAHost(text: String, host: String) throws {
        #expect(try ServerAddress(text).host == host)
    }

    @Test(arguments: [
        "", "n1.example:4222", "http://n1.example", "tls://", "tls://:4222", "tls://a b", "tls://user:pass@n1.example",
        "nats://n1.example:4222", "nats://10.0.0.1", "nats://127.0.0.1.example", "nats://128.0.0.1", "tls://a/b",
        "tls://a,tls://b", "nats://127.0.0", "nats://0.0.0.0",
    ])
    func anAddressOfAnotherMachineNeedsTLS(text: String) {
        #expect(throws: LinkError.self) { try ServerAddress(text) }
    }

    @Test func aKeyThatOthersMayUseIsRefused() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/node.nk"
        let key = try KeyFile.make(path)
        #expect(try KeyFile.read(path) == key)
        for mode: mode_t in [0o640, 0o604, 0o602, 0o700] {
            chmod(path, mode)
            let error = #expect(throws: LinkError.self, "\(mode)") { try KeyFile.read(path) }
            #expect(error?.description.contains("chmod 600") == true)
        }
        chmod(path, 0o400)
        #expect(try KeyFile.read(path) == key)
        #expect(throws: LinkError.self) { try KeyFile.read(folder.path) }
        #expect(throws: LinkError.self) { try KeyFile.read(path + "2") }
        #expect(throws: LinkError.self) { try KeyFile.make("\(folder.path)/none/node.nk") }
        if geteuid() == 0 {
            chown(path, 65_534, 65_534)
            #expect(throws: LinkError.self) { try KeyFile.read(path) }
        }
    }
}
