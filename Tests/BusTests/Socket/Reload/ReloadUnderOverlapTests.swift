import StrataCore
import StrataTesting
import Testing

/// What happens to names, observations and sessions while a row's next process starts, if other
/// peers or the manifest change.
@Suite(.timeLimit(.hang))
struct ReloadUnderOverlapTests {
    private func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        .testing(
            .eager("Shop", rank: 1) {
                $0.replace = .overlap
                $0.stop = 60_000
            }, .manual("Cat", rank: 2), .manual("Ant", rank: 0)
        ) {
            $0.guests = .init(rank: 2, most: 2)
            change(&$0)
        }
    }

    private static let extra: JSON = [
        "interfaces": ["Extra": [:]], "urls": [["host": "shop", "path": "/x", "to": "Extra/show"]],
    ]

    /// Runs a test in which Shop serves, and its next process is in its setUp.
    private func run(
        _ hello: JSON = [:],
        _ test: (TestBus, _ old: OtherProcess, _ new: OtherProcess, _ setUp: ReceivedFrame) throws
            -> Void
    ) throws {
        try TestBus.run(table()) { bus in
            let old = try bus.process(of: "Shop", [:])
            try old.peer.becomeReady()
            let new = try bus.process(of: "Shop", hello, answersLifecycle: false)
            let setUp = try new.peer.expectCall("module/setUp")
            new.peer.answersLifecycle = true
            try test(bus, old, new, setUp)
        }
    }

    private func takeOver(_ new: OtherProcess, _ setUp: ReceivedFrame) throws {
        try new.peer.reply(to: setUp)
        try new.peer.becomeReady()
    }

    // MARK: names

    @Test func whatTheNewOneBringsIsNobodyElses() throws {
        try run(Self.extra) { bus, _, new, setUp in
            let guest = try bus.module("Visitor")
            let interface = try guest.refused("bus/register", ["interfaces": ["Extra": [:]]], with: "name-taken")
            #expect(interface.message.contains("Shop"), "\(interface.message)")
            try guest.refused(
                "bus/register",
                ["interfaces": ["Own": [:]], "urls": [["host": "SHOP", "path": "/x", "to": "Own/a"]]],
                with: "name-taken")
            let late = try bus.connect()
            try late.expectRefusal(of: try late.sendHello("Late", ["interfaces": ["Extra": [:]]]), "name-taken")
            try takeOver(new, setUp)
            guest.close()
            try bus.operator().settle()
            let cat = try bus.module("Cat")
            let call = try cat.call("Extra/a")
            try new.peer.reply(to: try new.peer.expectCall("Extra/a"))
            try cat.expectReply(to: call)
        }
    }

    @Test func whatARowProvidesMeanwhileTheNewOneDoesNotGet() throws {
        try run(Self.extra) { bus, _, new, setUp in
            _ = try bus.reload(
                table {
                    $0.modules[2].provides = ["Extra"]
                    $0.modules[2].urls = [.init(host: "shop", path: "/x", to: "Extra/other")]
                })
            try takeOver(new, setUp)
            let ant = try bus.provider("Ant", "Extra")
            let cat = try bus.module("Cat")
            let call = try cat.call("Extra/a")
            try ant.reply(to: try ant.expectCall("Extra/a"))
            try cat.expectReply(to: call)
            let opened = try cat.open("test://shop/x")
            try ant.reply(to: try ant.expectCall("Extra/other"))
            try cat.expectReply(to: opened)
        }
    }

    // MARK: observations

    @Test func aRowsNewObservationsAreTheNewOnesToo() throws {
        try run { bus, _, new, setUp in
            _ = try bus.reload(table { $0.modules[0].observes = [.init(name: "news"), .init(name: "more")] })
            _ = try bus.reload(table { $0.modules[0].observes = [.init(name: "news")] })
            try takeOver(new, setUp)
            let ant = try bus.module("Ant")
            #expect(try ant.recipients(ofBroadcast: "news") == 1)
            #expect(try ant.recipients(ofBroadcast: "more") == 0)
            try new.peer.expectNotice("news")
        }
    }

    // MARK: sessions

    @Test func theOneThatServesStaysWhereOverlapWasTakenBack() throws {
        try run { bus, old, new, _ in
            _ = try bus.reload(table { $0.modules[0].replace = .wait })
            // The launcher gives up the new process.
            try bus.vouch(for: "Shop", pid: old.pid)
            try new.peer.expectEnd("shutting-down")
            try old.peer.settle()
            #expect(try bus.state(of: "Shop") == "ready")
        }
    }

    /// A process sends from its own level, whatever its module's level is now.
    @Test func theOldOneReportsAndCallsFromItsOwnLevel() throws {
        try TestBus.run(table { $0.calls = .layered }) { bus in
            let old = try bus.process(of: "Shop", [:])
            try old.peer.becomeReady()
            let cat = try bus.provider("Cat", "Late")
            let open = try bus.operator().report("x", to: "Shop")
            _ = try bus.operator().answer(to: open)
            let held = try old.peer.asked("bus/observe", ["name": "kept"])
            #expect(held["subscription"] != nil)
            let report = try bus.operator().report("kept", to: "Shop")
            let kept = try old.peer.expectNotice("kept")
            _ = try bus.reload(
                table {
                    $0.calls = .layered
                    $0.modules[0].rank = 2
                })
            let new = try bus.process(of: "Shop", [:])
            try new.peer.becomeReady()
            try old.peer.expectError(to: try old.peer.report("y", to: "Cat"), "level-violation")
            try old.peer.refused("Late/a", with: "level-violation")
            try new.peer.expectReply(to: try new.peer.report("y", to: "Cat"), body: ["observers": 0])
            let call = try new.peer.call("Late/a")
            try cat.reply(to: try cat.expectCall("Late/a"))
            try new.peer.expectReply(to: call)
            try old.peer.reply(to: kept)
            try bus.operator().expectReply(to: report, body: ["observers": 1])
        }
    }
}
