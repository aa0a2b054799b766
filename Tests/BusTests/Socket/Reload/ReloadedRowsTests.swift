import Glibc
import StrataCore
import StrataTesting
import Testing

/// The protocol's section 10, `reload`, and the manifest page's rules for it: rows that come and
/// go, changes that take effect later, and names that move to another row.
@Suite(.timeLimit(.hang))
struct ReloadedRowsTests: ReloadSuite {
    // MARK: rows that come and go

    @Test func aNewRowsModuleMayCome() throws {
        try TestBus.run(table()) { bus in
            let peer = try bus.connect()
            try peer.expectRefusal(of: try peer.sendHello("Dog", [:]), "unknown-module")
            _ = try bus.reload(table { $0.modules.append(.manual("Dog", rank: 1, provides: ["Bark"])) })
            let dog = try bus.provider("Dog", "Bark")
            #expect(dog.welcome["level"] == "middle")
            let cat = try bus.module("Cat")
            let id = try cat.call("Bark/loud")
            try dog.reply(to: try dog.expectCall("Bark/loud"), 1)
            try cat.expectReply(to: id, body: 1)
        }
    }

    @Test(.promise("M.34")) func aRemovedRowThatTheLauncherStartedIsLeftToIt() throws {
        let full = AppTable.testing(.eager("Old", rank: 0, provides: ["Past"]), .manual("Cat", rank: 2))
        try MemoryBus.run(full) { bus in
            let token = try bus.vouch(for: "Old")
            let old = try bus.module("Old", ["token": .string(token), "interfaces": ["Past": [:]]])
            let cat = try bus.module("Cat")
            let open = try cat.call("Past/get")
            let question = try old.expectCall("Past/get")
            _ = try bus.reload(.testing(.manual("Cat", rank: 2)))
            #expect(try bus.state(of: "Old") == "ready")
            try old.reply(to: question, 1)
            try cat.expectReply(to: open, body: 1)
            try bus.launcher().asked("bus/retire", ["module": "Old"])
            try cat.refused("Past/get", with: "unavailable")
            old.close()
            try bus.operator().settle()
            #expect(try bus.state(of: "Old") == "unknown")
            try cat.refused("Past/get", with: "unknown-interface")
        }
    }

    @Test func aRemovedRowThatWasStartedByHandIsTornDownAndEnded() throws {
        try MemoryBus.run(table()) { bus in
            let bee = try bus.module("Bee")
            _ = try bus.reload(.testing(.manual("Ant", provides: ["Store"]), .manual("Cat", rank: 2)))
            try bee.expectEnd("shutting-down")
            #expect(bee.lifecycle.last == "tearDown")
            let again = try bus.connect()
            try again.expectRefusal(of: try again.sendHello("Bee", [:]), "unknown-module")
        }
    }

    @Test func aHelloThatWaitsForAVouchIsJudgedAgainWhereItsRowGoes() throws {
        let full = AppTable.testing(.eager("Old", rank: 0), .manual("Cat", rank: 2))
        try MemoryBus.run(full) { bus in
            _ = try bus.launcher()
            let peer = try bus.connect()
            let hello = try peer.sendHello("Old", ["token": "right"])
            try bus.operator().settle()
            _ = try bus.reload(.testing(.manual("Cat", rank: 2)))
            try peer.expectRefusal(of: hello, "unknown-module")
        }
    }

    @Test func aSecondReloadTearsDownNothingTwice() throws {
        try MemoryBus.run(table()) { bus in
            let bee = try bus.module("Bee")
            bee.answersLifecycle = false
            let rest = AppTable.testing(.manual("Ant", provides: ["Store"]), .manual("Cat", rank: 2))
            _ = try bus.reload(rest)
            let tearDown = try bee.expectCall("module/tearDown")
            _ = try bus.reload(rest)
            try bee.settle()
            try bee.expectNothing()
            try bee.reply(to: tearDown)
            try bee.expectEnd("shutting-down")
        }
    }

    @Test func whatWaitsForARemovedRowIsUnavailable() throws {
        let full = AppTable.testing(.eager("Old", rank: 0, provides: ["Past"]), .manual("Cat", rank: 2))
        try MemoryBus.run(full) { bus in
            _ = try bus.launcher()
            let cat = try bus.module("Cat")
            let id = try cat.call("Past/get")
            try cat.settle()
            _ = try bus.reload(.testing(.manual("Cat", rank: 2)))
            try cat.expectError(to: id, "unavailable", ran: "no")
            try cat.refused("Past/get", with: "unknown-interface")
        }
    }

    // MARK: what takes effect later

    @Test(.promise("M.33")) func aChangedLevelIsPendingUntilTheNextStart() throws {
        try MemoryBus.run(table()) { bus in
            let bee = try bus.module("Bee", ["observes": ["x"]])
            let cat = try bus.module("Cat")
            _ = try bus.reload(table { $0.modules[1].rank = 2 })
            func row() throws -> JSON? {
                try bus.operator().asked("bus/modules")["modules"]?.array?.first { $0["name"] == "Bee" }
            }
            #expect(try row()?["level"] == "middle")
            #expect(try row()?["pending"] == ["level"])
            // It is still judged by the level that it started in.
            try cat.expectReply(to: try cat.report("y", to: "Bee"), body: ["observers": 0])
            bee.close()
            try bus.operator().settle()
            let again = try bus.module("Bee")
            #expect(again.welcome["level"] == "topout")
            #expect(try row()?["pending"] == nil)
            #expect(try row()?["level"] == "topout")
        }
    }

    @Test func whatTheLauncherSaysIsPendingIsShownUntilTheNextProcess() throws {
        try MemoryBus.run(.testing(.eager("Old"))) { bus in
            let pid = JSON.integer(Int64(getpid()))
            let vouch: JSON = ["module": "Old", "token": "t", "pid": pid]
            try bus.launcher().asked(
                "bus/vouch", ["module": "Old", "token": "t", "pid": pid, "pending": ["run", "env"]])
            let old = try bus.module("Old", ["token": "t"])
            func pending() throws -> JSON? {
                try bus.operator().asked("bus/modules")["modules"]?.array?.first?["pending"]
            }
            #expect(try pending() == ["run", "env"])
            try bus.launcher().asked("bus/vouch", vouch)
            #expect(try pending() == nil)
            try old.settle()
        }
    }

    // MARK: what one has and another gets

    @Test func anInterfaceThatBecomesARowsLeavesWhoHadIt() throws {
        let guests = table { $0.guests = .init(rank: 2, most: 2) }
        try MemoryBus.run(guests) { bus in
            let guest = try bus.provider("Visitor", "News")
            let cat = try bus.module("Cat")
            let open = try cat.call("News/get")
            let question = try guest.expectCall("News/get")
            let mine = table {
                $0.guests = .init(rank: 2, most: 2)
                $0.modules[1].provides = ["News"]
            }
            _ = try bus.reload(mine)
            try guest.reply(to: question, 1)
            try cat.expectReply(to: open, body: 1)
            try cat.refused("News/get", with: "unavailable")
            try guest.refused("bus/register", ["interfaces": ["News": [:]]], with: "forbidden")
            let bee = try bus.provider("Bee", "News")
            let id = try cat.call("News/get")
            try bee.reply(to: try bee.expectCall("News/get"), 2)
            try cat.expectReply(to: id, body: 2)
        }
    }

    @Test func whoWaitsForWhatIsAnothersNowIsToldWhose() throws {
        let rows = AppTable.testing(.eager("Old", provides: ["Past"]), .manual("Cat", rank: 2))
        try MemoryBus.run(rows) { bus in
            _ = try bus.launcher()
            let cat = try bus.module("Cat")
            let (call, creation) = (try cat.call("Past/get"), try cat.call("bus/create", ["interface": "Past"]))
            try cat.settle()
            _ = try bus.reload(.testing(.eager("Old"), .manual("Cat", rank: 2), .manual("Next", provides: ["Past"])))
            let token = try bus.vouch(for: "Old")
            _ = try bus.module("Old", ["interfaces": [:], "token": .string(token)])
            for id in [call, creation] {
                let error = try cat.expectError(to: id, "unavailable", ran: "no")
                #expect(error.message.contains("Next"), "\(error.message)")
            }
        }
    }

    /// Its process may still register the interface with `bus/register`.
    @Test func aLiveRowThatLacksWhatItNowProvidesIsNamed() throws {
        try MemoryBus.run(table()) { bus in
            let (bee, cat) = (try bus.module("Bee"), try bus.module("Cat"))
            _ = try bus.reload(table { $0.modules[1].provides = ["News"] })
            let error = try cat.refused("News/get", with: "unavailable")
            #expect(error.message.contains("strata restart Bee"), "\(error.message)")
            try bee.asked("bus/register", ["interfaces": ["News": [:]]])
            let id = try cat.call("News/get")
            try bee.reply(to: try bee.expectCall("News/get"), 2)
            try cat.expectReply(to: id, body: 2)
        }
    }

    @Test func anInterfaceThatIsNoRowsAnyMoreStaysItsSessions() throws {
        try MemoryBus.run(table()) { bus in
            let (ant, cat) = (try ant(bus), try bus.module("Cat"))
            _ = try bus.reload(table { $0.modules[0].provides = [] })
            let id = try cat.call("Store/get")
            try ant.reply(to: try ant.expectCall("Store/get"), 1)
            try cat.expectReply(to: id, body: 1)
            ant.close()
            try bus.operator().settle()
            try cat.refused("Store/get", with: "unknown-interface")
        }
    }

    @Test func guestsThatHaveNoPlaceAnyMoreAreEnded() throws {
        try MemoryBus.run(table { $0.guests = .init(rank: 2, most: 3) }) { bus in
            let first = try bus.module("One")
            let second = try bus.module("Two")
            let namesake = try bus.module("Dog")
            _ = try bus.reload(
                table {
                    $0.guests = .init(rank: 2, most: 1)
                    $0.modules.append(.manual("Dog"))
                })
            try namesake.expectEnd("shutting-down")
            try second.expectEnd("shutting-down")
            try first.settle()
            _ = try bus.module("Dog")
            _ = try bus.reload(table { $0.modules.append(.manual("Dog")) })
            try first.expectEnd("shutting-down")
        }
    }

    @Test(.promise("5.36", "M.33")) func guestsThatGetAnotherLevelAreEnded() throws {
        try MemoryBus.run(table { $0.guests = .init(rank: 1, most: 3) }) { bus in
            let same = try bus.module("Same")
            let moved = try bus.module("Moved")
            _ = try bus.reload(
                table {
                    $0.guests = .init(rank: 0, most: 3)
                    $0.guests?.users = [geteuid(): 1]
                    $0.guests?.names = ["Moved": 2]
                })
            let error = try moved.expectEnd("shutting-down")
            #expect(error.message.contains("the level topout now, and it joined in middle"), "\(error.message)")
            try same.settle()
            try bus.module("Moved").settle()
        }
    }
}
