import Glibc
import StrataCore
import StrataTesting
import Testing

/// The protocol's section 5: what guests, operators and the launcher may do.
@Suite(.timeLimit(.hang))
struct RoleTests {
    @Test(.promise("5.35", "10.12", "12.19")) func theLauncherCallsOnlyTheBusAndEmitsOnlyTheAppsEvents() throws {
        try TestBus.run(.sixModules()) { bus in
            let owner = try bus.provider(
                "Ant", "Test", ["urls": [["host": "test", "path": "/", "to": "Test/act"]], "observes": ["news"]])
            let launcher = try bus.launcher()
            try launcher.refused("Test/act", with: "forbidden")
            try launcher.expectError(to: try launcher.open("test://test"), "forbidden", ran: "no")
            try launcher.expectError(to: try launcher.report("news", to: "Ant"), "forbidden", ran: "no")
            try launcher.expectError(to: try launcher.broadcast("news"), "forbidden", ran: "no")
            try launcher.asked("bus/ping")
            try owner.expectNothing()
        }
    }

    @Test(.promise("10.33")) func theInterfaceLauncherIsForOperators() throws {
        try MemoryBus.run(.sixModules()) { bus in
            try bus.module("Ant").refused("launcher/stop", ["module": "Bee"], with: "forbidden")
            let tool = try bus.operator()
            try tool.refused("launcher/stop", ["module": "Bee"], with: "unavailable")
            let launcher = try bus.launcher()
            let id = try tool.call("launcher/stop", ["module": "Bee"])
            let call = try launcher.expectCall("launcher/stop", ["module": "Bee"], ["from": "operator"])
            // Its codes are the bus's own: a module's would become `failed`.
            try launcher.fail(call, "unknown-module", "no row is named Bee", ["ran": "no"])
            try tool.expectError(to: id, "unknown-module", ran: "no")
        }
    }

    /// The bus and the launcher have no instances. Whether the peer may ask is checked first, and
    /// so is the action.
    @Test(
        .promise("10.7"),
        arguments: [
            ("Ant", "bus#1/ping", "unknown-instance"), ("Ant", "BusRouter#1/ping", "unknown-interface"),
            ("Ant", "bus#007/observe", "unknown-instance"), ("Ant", "bus#1/vouch", "forbidden"),
            ("Ant", "bus#1/nothing", "unknown-action"), ("Ant", "bus#/ping", "unknown-interface"),
            ("Ant", "launcher#1/stop", "forbidden"), ("Ant", "module#1/setUp", "forbidden"),
            ("operator", "bus#1/timeline", "unknown-instance"), ("operator", "launcher#1/stop", "unknown-instance"),
            ("operator", "bus#1/observe", "forbidden"), ("launcher", "bus#9007199254740993/retire", "unknown-instance"),
        ])
    func instancesOfTheBussInterfacesAreUnknown(asker: String, to: String, code: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let launcher = try bus.launcher()
            let peer =
                switch asker {
                case "operator": try bus.operator()
                case "launcher": launcher
                default: try bus.module(asker)
                }
            try peer.refused(to, ["module": "Ant"], with: code)
            try launcher.expectNothing()
        }
    }

    /// Before its parent and its params are checked.
    @Test(.promise("10.7")) func whoMayAskTheBusIsJudgedFirst() throws {
        try MemoryBus.run(.sixModules()) { bus in
            try bus.module("Ant").refused("bus/vouch", 5, ["parent": 99], with: "forbidden")
            try bus.operator().refused("bus/observe", 5, ["parent": 99], with: "forbidden")
            try bus.operator().refused("bus/metrics", 5, ["parent": 99], with: "cancelled")
        }
    }

    @Test(.promise("5.28", "M.8")) func aGuestIsAModuleOfItsLevel() throws {
        try MemoryBus.run(.sixModules { $0.guests = .init(rank: 1, most: 4) }) { bus in
            let (earlier, later) = (
                try bus.module("Ant", ["observes": ["news"]]), try bus.module("Cat", ["observes": ["news"]])
            )
            let guest = try bus.module("Visitor", ["observes": ["news"]])
            #expect(try guest.recipients(ofBroadcast: "news", 1) == 1)
            try later.expectNotice("news", 1, ["from": "Visitor", "level": "middle"])
            #expect(try earlier.recipients(ofBroadcast: "news", 2) == 2)
            try guest.expectNotice("news", 2)
            try guest.expectError(to: try guest.report("news", to: "Cat"), "level-violation", ran: "no")
            let report = try later.report("news", to: "Visitor")
            try guest.reply(to: try guest.expectNotice("news", nil, ["via": "report"]))
            try later.expectReply(to: report, body: ["observers": 1])
            try guest.refused("bus/emit", nil, ["name": "any"], with: "forbidden")
            guest.close()
            try bus.waitUntilGone("Visitor")
            try later.expectError(to: try later.report("news", to: "Visitor"), "unknown-module", ran: "no")
        }
    }

    /// The user counts as the kernel names it, and a name only narrows.
    @Test(
        .promise("5.36", "M.8"),
        arguments: [
            (users: [:], names: [:], rank: 1), (users: [geteuid(): 0], names: [:], rank: 0),
            (users: [geteuid(): 2, geteuid() + 1: 0], names: [:], rank: 2),
            (users: [geteuid() + 1: 2], names: [:], rank: 1),
            (users: [geteuid(): 0], names: ["Visitor": 2], rank: 2),
            (users: [geteuid(): 2], names: ["Visitor": 0], rank: 2),
            (users: [:], names: ["Visitors": 2, "visitor": 2], rank: 1),
        ] as [(users: [UInt32: Int], names: [String: Int], rank: Int)])
    func aGuestsLevelFollowsItsUserAndItsName(users: [UInt32: Int], names: [String: Int], rank: Int) throws {
        let table = AppTable.sixModules {
            $0.guests = .init(rank: 1, most: 4)
            $0.guests?.users = users
            $0.guests?.names = names
        }
        try MemoryBus.run(table) { bus in
            for level in [0, 1, 2] where level != rank {
                let hello: JSON = ["protocol": 1, "module": "Visitor", "level": .string(table.levels[level])]
                let peer = try bus.connect()
                let error = try peer.expectRefusal(of: try peer.call("bus/hello", hello), "level-mismatch")
                #expect(
                    error.message.contains("guests of user \(geteuid()) have \(table.levels[rank])"), "\(error.message)"
                )
            }
            let peer = try bus.connect()
            let answer = try peer.asked(
                "bus/hello", ["protocol": 1, "module": "Visitor", "level": .string(table.levels[rank])])
            #expect(answer["rank"]?.integer == Int64(rank))
        }
    }

    @Test(.promise("M.21", "M.23")) func aGuestMayCallNothingWhereCallsAreDeclared() throws {
        let table = AppTable.sixModules {
            $0.guests = .init(rank: 2, most: 4)
            $0.calls = .declared
        }
        try MemoryBus.run(table) { bus in
            let owner = try bus.provider("Ant", "Test")
            let guest = try bus.provider("Visitor", "Own", ["requires": ["Test"], "broadcasts": ["news"]])
            try guest.refused("Test/act", with: "undeclared")
            try guest.expectError(to: try guest.broadcast("news"), "undeclared", ran: "no")
            try guest.call("Own/act")
            try guest.expectCall("Own/act")
            try owner.expectNothing()
        }
    }

    @Test(.promise("5.16")) func aGuestTakesNothingThatARowNames() throws {
        let table = AppTable.testing(
            .manual("Ant", provides: ["Test"]) { row in
                row.urls = [.init(host: "test", path: "/", to: "Test/act")]
            }
        ) { $0.guests = .init(rank: 2, most: 4) }
        try MemoryBus.run(table) { bus in
            let peer = try bus.connect()
            let hello = try peer.sendHello("Visitor", ["interfaces": ["Test": [:]]])
            try peer.expectRefusal(of: hello, "forbidden")
            let guest = try bus.provider("Visitor", "Own")
            let url: JSON = ["urls": [["host": "test", "path": "/", "to": "Own/act"]]]
            try guest.refused("bus/register", url, with: "forbidden")
        }
    }

    @Test(.promise("5.28")) func withoutGuestsAndWithoutARowNobodyIsLetIn() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.connect()
            let error = try peer.expectRefusal(of: try peer.sendHello("Annt"), "unknown-module")
            #expect(error.message.contains("Ant"))
        }
    }
}

extension TestBus {
    /// Waits until no module of that name is known, by round trips.
    fileprivate func waitUntilGone(_ guest: String) throws {
        let tool = try self.operator()
        while try tool.asked("bus/modules")["modules"]?.array?.contains(where: { $0["name"]?.string == guest }) == true
        {}
    }
}
