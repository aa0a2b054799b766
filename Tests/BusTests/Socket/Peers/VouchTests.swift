import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// The protocol's section 5: a peer's identity. It tests tokens and the launcher's vouches; this
/// process is the launcher and the modules at once.
@Suite(.timeLimit(.hang))
struct VouchTests {
    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(.eager("Login", rank: 1), .manual("Tool"), with: change)
    }

    @Test(.promise("5.18")) func theTokenOfAVouchedProcessLetsItIn() throws {
        try MemoryBus.run(table()) { bus in
            let token = try bus.vouch(for: "Login")
            let peer = try bus.module("Login", ["token": .string(token)])
            #expect(peer.welcome.matches(["module": "Login", "level": "middle"]))
            #expect(peer.lifecycle == ["setUp", "initialize", "didStart"])
        }
    }

    @Test(.promise("5.22")) func aWrongTokenIsForbiddenAtOnce() throws {
        try MemoryBus.run(table()) { bus in
            try bus.vouch(for: "Login", token: "right")
            let peer = try bus.connect()
            try peer.expectRefusal(of: try peer.sendHello("Login", ["token": "wrong"]), "forbidden")
        }
    }

    @Test(.promise("5.22")) func anotherProcessThanTheVouchedOneIsForbiddenAtOnce() throws {
        let other = try ChildProgram("/bin/cat", ["/dev/zero"])
        defer { other.kill() }
        try MemoryBus.run(table()) { bus in
            try bus.vouch(for: "Login", pid: other.pid, token: "right")
            let peer = try bus.connect()
            try peer.expectRefusal(of: try peer.sendHello("Login", ["token": "right"]), "forbidden")
        }
    }

    @Test(.promise("5.2", "5.19")) func aTokenWithoutVouchWaitsForIt() throws {
        try MemoryBus.run(table()) { bus in
            let launcher = try bus.launcher()
            let peer = try bus.connect("Login", answersLifecycle: true)
            let hello = try peer.sendHello("Login", ["token": "right"])
            // Frames after hello wait with it.
            let ping = try peer.call("bus/ping")
            try launcher.settle()
            #expect(peer.inbox.isEmpty)
            try bus.vouch(for: "Login", token: "right")
            try peer.expectReply(to: hello, body: ["module": "Login"])
            try peer.expectReply(to: ping)
            try peer.becomeReady()
        }
    }

    @Test(.promise("5.21")) func aVouchForAnotherTokenRefusesTheWaitingOne() throws {
        try MemoryBus.run(table()) { bus in
            let peer = try bus.connect()
            let hello = try peer.sendHello("Login", ["token": "wrong"])
            try bus.vouch(for: "Login", token: "right")
            try peer.expectRefusal(of: hello, "forbidden")
        }
    }

    @Test(.promise("5.21")) func aVouchForAnotherProcessRefusesTheWaitingOne() throws {
        let other = try ChildProgram("/bin/cat", ["/dev/zero"])
        defer { other.kill() }
        try MemoryBus.run(table()) { bus in
            let peer = try bus.connect()
            let hello = try peer.sendHello("Login", ["token": "right"])
            try bus.vouch(for: "Login", pid: other.pid, token: "right")
            try peer.expectRefusal(of: hello, "forbidden")
        }
    }

    @Test(.promise("5.19")) func nobodyVouchingInTimeIsForbidden() throws {
        try MemoryBus.run(table { $0.hello = 50 }) { bus in
            let peer = try bus.connect()
            let hello = try peer.sendHello("Login", ["token": "right"])
            try peer.expectRefusal(of: hello, "forbidden")
        }
    }

    @Test(.promise("5.19")) func aSecondWaitingHelloOfTheSameProcessIsTaken() throws {
        try MemoryBus.run(table()) { bus in
            let first = try bus.connect("first", answersLifecycle: true)
            let hello = try first.sendHello("Login", ["token": "right"])
            let second = try bus.connect("second")
            try second.expectRefusal(of: try second.sendHello("Login", ["token": "right"]), "name-taken")
            try bus.vouch(for: "Login", token: "right")
            try first.expectReply(to: hello)
        }
    }

    @Test(.promise("5.20")) func twoHellosOfOneUserWaitForARow() throws {
        try TestBus.run(table()) { bus in
            let processes = try (0..<3).map { try OtherProcess(bus, "\($0)") }
            let waiting = processes.prefix(2)
            let hellos = try waiting.map { try $0.peer.sendHello("Login", ["token": "right"]) }
            let third = processes[2].peer
            try bus.operator().settle()
            let refusal = try third.expectRefusal(of: try third.sendHello("Login", ["token": "right"]), "overloaded")
            #expect(refusal.message.contains("2 hellos of Login from user \(geteuid())"), "\(refusal)")
            // A hello whose process ends no longer waits.
            processes[0].die()
            let fourth = try OtherProcess(bus, "fourth")
            let last = try fourth.peer.sendHello("Login", ["token": "right"])
            try bus.vouch(for: "Login", pid: processes[1].pid, token: "right")
            try waiting[1].peer.expectReply(to: hellos[1])
            try fourth.peer.expectRefusal(of: last, "forbidden")
        }
    }

    @Test(.promise("5.20"), .enabled(if: geteuid() == 0, "only root can be another user"))
    func aHelloOfAUserThatIsNotTheRowsWaitsForNobody() throws {
        let table = table { $0.modules.append(.eager("Sand") { $0.user = TestBus.others.0 }) }
        try TestBus.run(table) { bus in
            bus.openToOthers()
            for (row, user) in [("Login", 0), ("Sand", TestBus.others.0)] {
                let stranger = try OtherProcess(bus, row, user: TestBus.others.1)
                let peer = stranger.peer
                let refusal = try peer.expectRefusal(of: try peer.sendHello(row, ["token": "t"]), "forbidden")
                #expect(refusal.message.contains("\(row), which runs as user \(user)"), "\(refusal)")
                stranger.die()
            }
            // The row's own user waits, and so does any process that could be the launcher.
            let own = try OtherProcess(bus, "Sand", user: TestBus.others.0)
            let hello = try own.peer.sendHello("Sand", ["token": "t"])
            let root = try bus.connect("root")
            let refused = try root.sendHello("Sand", ["token": "t"])
            try bus.operator().settle()
            #expect(own.peer.inbox.isEmpty && root.inbox.isEmpty)
            try bus.vouch(for: "Sand", pid: own.pid, token: "t")
            try own.peer.expectReply(to: hello)
            try root.expectRefusal(of: refused, "forbidden")
        }
    }

    @Test(.promise("13.10")) func aHelloThatWaitsIsCountedAmongThoseWithoutHello() throws {
        try TestBus.run(table { $0.limits.unregistered = 2 }) { bus in
            let tool = try bus.operator()
            let waiting = try bus.connect("waiting")
            let hello = try waiting.sendHello("Login", ["token": "right"])
            try tool.settle()
            let silent = try (0..<2).map { try bus.connect("silent \($0)") }
            let refusal = try waiting.expectRefusal(of: hello, "overloaded")
            #expect(refusal.message.contains("(limits.unregistered)"), "\(refusal)")
            for peer in silent { try peer.hello(role: "operator") }
        }
    }

    @Test(.promise("5.24")) func aVouchForANewProcessEndsTheOldSession() throws {
        let other = try ChildProgram("/bin/cat", ["/dev/zero"])
        defer { other.kill() }
        try MemoryBus.run(table()) { bus in
            let token = try bus.vouch(for: "Login")
            let peer = try bus.module("Login", ["token": .string(token)])
            try bus.vouch(for: "Login", pid: other.pid)
            try peer.expectEnd("shutting-down")
        }
    }

    @Test(.promise("10.11")) func aPlaceThatIsTakenBackIsNobodys() throws {
        try MemoryBus.run(table()) { bus in
            let token = try bus.vouch(for: "Login")
            let peer = try bus.module("Login", ["token": .string(token)])
            let launcher = try bus.launcher()
            try launcher.asked("bus/vouch", ["module": "Login", "pid": 0])
            let end = try peer.expectEnd("shutting-down")
            #expect(end["message"]?.string?.contains("took the place of Login back") == true, "\(end)")
            // The token is worth nothing until the launcher vouches again.
            let again = try bus.connect("Login", answersLifecycle: true)
            let hello = try again.sendHello("Login", ["token": .string(token)])
            try launcher.settle()
            #expect(again.inbox.isEmpty)
            let next = try bus.vouch(for: "Login")
            try again.expectRefusal(of: hello, "forbidden")
            _ = try bus.module("Login", ["token": .string(next)])
            try launcher.refused("bus/vouch", ["module": "Login", "token": "t", "pid": -1], with: "bad-params")
            try launcher.refused("bus/vouch", ["module": "Login", "pid": 1], with: "bad-params")
        }
    }

    @Test(.promise("5.22", "5.23")) func theVouchOfADeadProcessIsWorthNothing() throws {
        let dead = try ChildProgram("/bin/true")
        try dead.wait()
        try MemoryBus.run(table()) { bus in
            try bus.vouch(for: "Login", pid: dead.pid, token: "old")
            let peer = try bus.connect("Login", answersLifecycle: true)
            let hello = try peer.sendHello("Login", ["token": "new"])
            try bus.vouch(for: "Login", token: "new")
            try peer.expectReply(to: hello)
        }
    }

    @Test(.promise("5.32")) func whatDescendsFromTheLauncherIsNobodyElse() throws {
        try TestBus.run(table { $0.guests = .init(rank: 2, most: 4) }) { bus in
            let launcher = try bus.launcher()
            // A child of this process, which is the launcher.
            for hello in [
                #"{"protocol":1,"role":"operator"}"#, #"{"protocol":1,"role":"launcher"}"#,
                #"{"protocol":1,"module":"Tool"}"#, #"{"protocol":1,"module":"Visitor"}"#,
            ] {
                let child = try ChildProgram("/usr/bin/perl", ["-e", Self.client, bus.path, hello])
                #expect(try child.wait() == .exit(0))
                #expect(child.outputText.contains(#""code":"forbidden""#), "\(hello): \(child.outputText)")
            }
            try launcher.expectNothing()
        }
    }

    @Test(.promise("5.18")) func aVouchedProcessAndItsChildrenAreTheModule() throws {
        try TestBus.run(table()) { bus in
            try bus.vouch(for: "Login", token: "right")
            let hello = #"{"protocol":1,"module":"Login","token":"right"}"#
            let child = try ChildProgram("/usr/bin/perl", ["-e", Self.client, bus.path, hello])
            #expect(try child.wait() == .exit(0))
            #expect(child.outputText.contains(#""module":"Login""#), "\(child.outputText)")
        }
    }

    /// A client that says hello and prints the first frame. Perl is part of every Debian.
    private static let client = #"""
        use IO::Socket::UNIX;
        my ($path, $body) = @ARGV;
        my $socket = IO::Socket::UNIX->new(Peer => $path) or die "connect: $!";
        my $header = '{"kind":"call","id":1,"to":"bus/hello"}';
        $socket->syswrite(pack("NN", 4 + length($header) + length($body), length($header)) . $header . $body);
        my $input = "";
        while (length($input) < 4 || length($input) < 4 + unpack("N", $input)) {
            $socket->sysread($input, 65536, length($input)) or last;
        }
        print $input;
        """#
}
