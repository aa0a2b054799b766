import Glibc
import StrataCore
import StrataTesting
import Testing

/// Two brokers on sockets of their own: a module of one app opens a URL of the other.
@Suite(.timeLimit(.hang))
struct TwoAppsTests {
    private static func catalog(_ users: [UInt32] = [geteuid()]) -> AppTable {
        .testing(
            .manual("Catalog", provides: ["Catalog"]) { row in
                row.urls = [.init(host: "item", path: "/:id", to: "Catalog/item", isPublic: true)]
                row.opens = []
            }
        ) { table in
            table.app = "catalog"
            table.schemes = ["catalog"]
            table.openableBy = .init(users: users, rank: 2)
        }
    }

    private static func shop(_ path: String, user: UInt32? = nil) -> AppTable {
        .testing(
            .manual("Shop") { row in
                row.opens = [.init(scheme: "catalog", app: OtherApp(.socket(path), user: user))]
            }
        ) { $0.app = "shop" }
    }

    @Test(.promise("9.40", "5.46", "1.20")) func aModuleOpensAURLOfTheOtherApp() throws {
        try TestBus.run(Self.catalog()) { catalog in
            let owner = try catalog.module("Catalog", ["interfaces": ["Catalog": [:]]])
            try TestBus.run(Self.shop(catalog.path)) { bus in
                let shop = try bus.module("Shop")
                let id = try shop.open("catalog://item/7", ["credit": 2])
                let call = try owner.expectCall("Catalog/item", ["id": "7"], ["from": "app:shop", "credit": 2])
                try owner.partialReply(to: call, ["n": 1])
                try shop.expect(["kind": "reply", "id": .integer(Int64(id)), "more": true], body: ["n": 1])
                try owner.reply(to: call, ["shown": true])
                try shop.expectReply(to: id, body: ["shown": true])
                #expect(try shop.asked("bus/canOpen", ["url": "catalog://item/7"]) == ["open": true])
                try shop.expectError(to: try shop.open("catalog://item/7/8"), "forbidden", ran: "no")
                // A cancel reaches the other app's module.
                let second = try shop.open("catalog://item/8")
                let next = try owner.expectCall("Catalog/item", ["id": "8"])
                try shop.cancel(second)
                try shop.expectError(to: second, "cancelled", ran: "maybe")
                try owner.expect(["kind": "cancel", "id": next.number])
                // The module's death is told, without its name.
                let third = try shop.open("catalog://item/9")
                _ = try owner.expectCall("Catalog/item", ["id": "9"])
                owner.close()
                try shop.expectError(to: third, "died", ran: "maybe")
            }
        }
    }

    @Test(.promise("9.41", "5.46")) func theOtherAppRefusesAUserThatItDoesNotList() throws {
        try TestBus.run(Self.catalog([geteuid() + 1])) { catalog in
            try TestBus.run(Self.shop(catalog.path)) { bus in
                let shop = try bus.module("Shop")
                let error = try shop.expectError(to: try shop.open("catalog://item/7"), "unavailable", ran: "no")
                #expect(error.message.contains("forbidden: user \(geteuid()) may not open URLs of catalog"))
            }
        }
    }

    @Test(.promise("9.41", "1.20")) func aSocketOfAnotherUserIsNotUsed() throws {
        try TestBus.run(Self.catalog()) { catalog in
            // Root's folders are anybody's, so the test gives this one away, or names a wrong user.
            if geteuid() == 0 { chown(catalog.folder, 4243, 4243) }
            defer { chown(catalog.folder, geteuid(), getegid()) }
            try TestBus.run(Self.shop(catalog.path, user: 4242)) { bus in
                let shop = try bus.module("Shop")
                let error = try shop.expectError(to: try shop.open("catalog://item/7"), "unavailable", ran: "no")
                #expect(error.message.contains("its folder belongs to user"))
                #expect(error.message.contains(catalog.path))
            }
        }
    }

    @Test(.promise("9.41")) func anAppThatEndedIsUnavailableUntilItIsBack() throws {
        let folder = try TemporaryFolder()
        try TestBus.run(Self.shop("\(folder.path)/bus")) { bus in
            let shop = try bus.module("Shop")
            let error = try shop.expectError(to: try shop.open("catalog://item/7"), "unavailable", ran: "no")
            #expect(error.message.contains("\(folder.path)/bus: there is no socket"))
        }
    }

    @Test(.promise("1.20")) func aLinkToASocketIsNotFollowed() throws {
        let folder = try TemporaryFolder()
        try TestBus.run(Self.catalog()) { catalog in
            symlink(catalog.path, "\(folder.path)/bus")
            symlink(catalog.folder, "\(folder.path)/folder")
            for (path, reason) in [("bus", "it isn't a socket"), ("folder/bus", "its folder is a link")] {
                try TestBus.run(Self.shop("\(folder.path)/\(path)")) { bus in
                    let shop = try bus.module("Shop")
                    let error = try shop.expectError(to: try shop.open("catalog://item/7"), "unavailable", ran: "no")
                    #expect(error.message.contains(reason), "\(error.message)")
                }
            }
        }
    }

    /// Without a launcher, nothing else would keep an app from being its own other app.
    @Test(.promise("1.21")) func anAppsOwnSocketIsNoOtherApps() throws {
        try TestBus.run(Self.catalog()) { bus in
            var table = Self.catalog()
            table.modules[0].opens = [.init(scheme: "self", app: OtherApp(.socket(bus.path)))]
            let owner = try bus.module("Catalog", ["interfaces": ["Catalog": [:]]])
            _ = try bus.reload(table)
            let error = try owner.expectError(to: try owner.open("self://item/7"), "unavailable", ran: "no")
            #expect(error.message.contains("\(bus.path): it is this app's own socket"), "\(error.message)")
            let can = try owner.asked("bus/canOpen", ["url": "self://item/7"])
            #expect(can == ["open": false, "reason": "unavailable"])
            #expect(try bus.operator().asked("bus/stats")["counters"]?["badFrames"] == 0)
        }
    }

    /// The kernel says who listens, whoever made the socket's file.
    @Test(.promise("1.20"), .enabled(if: geteuid() == 0, "only root can listen as another user"))
    func aListenerOfAnotherUserIsRefused() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/bus"
        let (user, other) = TestBus.others
        let listener = try ChildProgram(try BuiltExecutable.path("StrataConnector"), ["--listen", path, "\(other)"])
        try #require(listener.firstLine() == "yes", "\(listener.outputText)")
        defer { listener.kill() }
        chown(folder.path, user, gid_t.max)
        chown(path, user, gid_t.max)
        for (user, reason) in [
            (user, "user \(other) listens on it, not \(user)"), (other, "its folder belongs to user"),
        ] {
            try TestBus.run(Self.shop(path, user: user)) { bus in
                let shop = try bus.module("Shop")
                let error = try shop.expectError(to: try shop.open("catalog://item/7"), "unavailable", ran: "no")
                #expect(error.message.contains(reason), "\(error.message)")
            }
        }
    }
}
