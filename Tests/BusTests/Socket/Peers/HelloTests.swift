import StrataCore
import StrataTesting
import Testing

/// The protocol's section 5: saying hello, and the order of its refusals.
@Suite(.timeLimit(.hang))
struct HelloTests {
    @Test(.promise("5.3", "13.41", "I.1", "I.11")) func helloTellsWhatTheAppIs() throws {
        let table = AppTable.sixModules {
            $0.settings = ["page": 20]
            $0.launchOptions = ["kiosk": true]
        }
        try TestBus.run(table) { bus in
            let peer = try bus.module("Bee", ["observes": ["a", ["name": "b", "object": "o", "keep": "latest"]]])
            let told = peer.welcome
            let expected: JSON = [
                "app": "test", "env": "test", "module": "Bee", "level": "middle", "rank": 1,
                "levels": ["basic", "middle", "topout"], "schemes": ["test"], "settings": ["page": 20],
                "launchOptions": ["kiosk": true],
                "limits": ["frame": 16_777_216, "header": 16_384, "calls": 1_024, "queue": 8_388_608],
            ]
            #expect(told.matches(expected), "\(told)")
            #expect(told["subscriptions"]?.array?.count == 2)
            #expect(try bus.operator().welcome.matches(["module": nil, "level": nil, "rank": nil]))
        }
    }

    @Test(
        .promise("5.1"),
        arguments: [
            ["kind": "call", "id": 5, "to": "bus/ping"], ["kind": "broadcast", "name": "news"],
            ["kind": "reply", "id": 1],
            ["kind": "open", "id": 5, "url": "test://a"], ["kind": "nonsense", "id": 5],
        ] as [JSON])
    func anyOtherFirstFrameIsNotRegistered(header: JSON) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.connect()
            try peer.send(header)
            try peer.expectEnd("not-registered")
        }
    }

    @Test(.promise("5.1", "13.40")) func noHelloInTimeIsNotRegistered() throws {
        try MemoryBus.run(.sixModules { $0.hello = 50 }) { bus in
            try bus.connect().expectEnd("not-registered")
        }
    }

    @Test(.promise("5.10", "10.1")) func aSecondHelloIsForbiddenAndTheSessionStays() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.module("Ant")
            try peer.refused("bus/hello", ["protocol": 1, "module": "Bee"], with: "forbidden")
            try peer.expectNothing()
            #expect(try bus.state(of: "Ant") == "ready")
        }
    }

    @Test(.promise("5.2")) func whatFollowsHelloIsReadAfterItsAnswer() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.connect("Ant")
            let hello: JSON = ["protocol": 1, "module": "Ant"]
            try peer.send(
                bytes: FrameBytes.frame(["kind": "call", "id": 1, "to": "bus/hello"], body: hello)
                    + FrameBytes.frame(["kind": "call", "id": 2, "to": "bus/ping"]))
            try peer.expect(["kind": "reply", "id": 1])
            try peer.find(["kind": "reply", "id": 2])
        }
    }

    struct Refusal: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var code: String
        var body: JSON
    }

    /// Each hello has every later fault, too, as far as possible. So the order of the checks
    /// shows.
    static let refusals: [Refusal] = [
        Refusal(testDescription: "another version", code: "bad-version", body: ["protocol": 2, "module": 5]),
        Refusal(testDescription: "no protocol", code: "bad-params", body: ["module": "Ant"]),
        Refusal(testDescription: "no module", code: "bad-params", body: ["protocol": 1]),
        Refusal(testDescription: "a body that is a string", code: "bad-params", body: "Ant"),
        Refusal(testDescription: "a module of a wrong type", code: "bad-params", body: ["protocol": 1, "module": 5]),
        Refusal(
            testDescription: "a role and a module", code: "bad-params",
            body: ["protocol": 1, "module": "Ant", "role": "operator"]),
        Refusal(testDescription: "an unknown role", code: "bad-params", body: ["protocol": 1, "role": "king"]),
        Refusal(testDescription: "a reserved name", code: "bad-params", body: ["protocol": 1, "module": "operator"]),
        Refusal(
            testDescription: "a reserved interface", code: "bad-params",
            body: ["protocol": 1, "module": "Nobody", "interfaces": ["bus": [:]]]),
        Refusal(
            testDescription: "a URL to what it doesn't provide", code: "bad-params",
            body: ["protocol": 1, "module": "Nobody", "urls": [["host": "h", "path": "/", "to": "Test/act"]]]),
        Refusal(
            testDescription: "a URL to a multiple interface", code: "bad-params",
            body: [
                "protocol": 1, "module": "Nobody", "interfaces": ["Test": ["instances": "multiple"]],
                "urls": [["host": "h", "path": "/", "to": "Test/act"]],
            ]),
        Refusal(
            testDescription: "more observations than allowed", code: "overloaded",
            body: ["protocol": 1, "module": "Nobody", "observes": ["a", "b", "c"]]),
        Refusal(
            testDescription: "a module without row", code: "unknown-module", body: ["protocol": 1, "module": "Nobody"]),
        Refusal(
            testDescription: "another level than the row's", code: "level-mismatch",
            body: ["protocol": 1, "module": "Eager", "level": "topout"]),
        Refusal(testDescription: "an eager row by hand", code: "forbidden", body: ["protocol": 1, "module": "Eager"]),
        Refusal(
            testDescription: "an interface of another's row", code: "forbidden",
            body: ["protocol": 1, "module": "Ant", "interfaces": ["Owned": [:], "Taken": [:]]]),
        Refusal(testDescription: "a live name", code: "name-taken", body: ["protocol": 1, "module": "Bee"]),
        Refusal(
            testDescription: "a live interface", code: "name-taken",
            body: ["protocol": 1, "module": "Ant", "interfaces": ["Taken": [:]]]),
        Refusal(
            testDescription: "a live URL", code: "name-taken",
            body: [
                "protocol": 1, "module": "Ant", "interfaces": ["Mine": [:]],
                "urls": [["host": "H", "path": "/show/:other", "to": "Mine/show"]],
            ]),
        Refusal(
            testDescription: "without an interface that its row provides", code: "bad-params",
            body: ["protocol": 1, "module": "Owner"]),
    ]

    @Test(.promise("4.9", "5.4", "5.15", "12.5", "12.13", "12.18", "12.19"), arguments: refusals)
    func aRefusedHelloGetsOneErrorAndTheEnd(_ refusal: Refusal) throws {
        let table = AppTable.sixModules {
            $0.modules.append(.eager("Eager"))
            $0.modules.append(.manual("Owner", provides: ["Owned"]))
            $0.limits.observations = 2
        }
        try MemoryBus.run(table) { bus in
            let live = try bus.module(
                "Bee",
                [
                    "interfaces": ["Taken": [:]],
                    "urls": [["host": "h", "path": "/show/:tip", "to": "Taken/show"]],
                ])
            let peer = try bus.connect()
            let error = try peer.expectRefusal(of: try peer.call("bus/hello", refusal.body), refusal.code)
            #expect(!error.message.isEmpty)
            try live.expectNothing()
        }
    }

    @Test(arguments: [[:], ["actions": [:]]] as [JSON])
    func whereNoActionsAreListedAllPass(interface: JSON) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let owner = try bus.module("Ant", ["interfaces": ["Shop": interface]])
            let caller = try bus.module("Bee")
            let id = try caller.call("Shop/buy")
            try owner.reply(to: try owner.expectCall("Shop/buy"))
            try caller.expectReply(to: id)
            try owner.asked("bus/register", ["interfaces": ["Shop": ["actions": ["sell": [:]]]]])
            try caller.refused("Shop/buy", with: "unknown-action")
        }
    }

    @Test(
        arguments: [
            ["observes": [""]], ["events": [""]], ["broadcasts": [""]], ["reports": ["Ant": [""]]],
            ["reports": ["1x": ["a"]]], ["reports": ["Ant": "a"]], ["reports": ["Ant": [1]]], ["requires": ["a b"]],
            ["requires": [""]], ["events": [.string(String(repeating: "x", count: 257))]],
            ["broadcasts": [.string(String(repeating: "x", count: 257))]],
        ] as [JSON])
    func namesThatAreNoneAreBadParams(members: JSON) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.connect()
            try peer.expectRefusal(of: try peer.sendHello("Ant", members), "bad-params")
        }
    }

    @Test(.promise("5.4", "12.12")) func helloWithoutUsableIDIsABadID() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let peer = try bus.connect()
            try peer.send(["kind": "call", "id": 0, "to": "bus/hello"], body: ["protocol": 7])
            try peer.expectEnd("bad-id")
        }
    }

    @Test(.promise("5.5", "5.28", "I.9")) func aGuestGetsTheGuestsLevelAndNoMoreThanAllowedCome() throws {
        try MemoryBus.run(.sixModules { $0.guests = .init(rank: 2, most: 1) }) { bus in
            let guest = try bus.provider("Visitor", "Test")
            #expect(guest.welcome.matches(["module": "Visitor", "level": "topout", "rank": 2]))
            let second = try bus.connect()
            try second.expectRefusal(of: try second.sendHello("Other"), "overloaded")
            let caller = try bus.module("Ant")
            let call = try caller.call("Test/act")
            try guest.expectCall("Test/act", nil, ["from": "Ant"])
            guest.close()
            try caller.expectError(to: call, "died", ran: "maybe")
            _ = try bus.module("Other")
            try caller.refused("Test/act", with: "unknown-interface")
        }
    }

    @Test(.promise("5.5", "5.16")) func whatNoRowNamesGoesWithItsSession() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let first = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            first.close()
            try bus.waitUntil("Ant", is: "absent")
            try caller.refused("Test/act", with: "unknown-interface")
            let second = try bus.provider("Ant2", "Test")
            try caller.call("Test/act")
            try second.expectCall("Test/act")
        }
    }

    @Test(.promise("5.29")) func thereIsOneLauncherAtATime() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let first = try bus.launcher()
            let second = try bus.connect()
            try second.expectRefusal(
                of: try second.call("bus/hello", ["protocol": 1, "role": "launcher"]), "name-taken")
            first.close()
            try bus.launcher().expectNothing()
        }
    }

    @Test(.promise("5.34", "10.25", "10.35")) func operatorsAndTheLauncherOfferAndObserveNothing() throws {
        try MemoryBus.run(.sixModules()) { bus in
            for peer in [try bus.operator(), try bus.launcher()] {
                try peer.refused("bus/observe", ["name": "a"], with: "forbidden")
                try peer.refused("bus/register", ["interfaces": ["Test": [:]]], with: "forbidden")
                try peer.refused("bus/create", ["interface": "Test"], with: "forbidden")
            }
            let module = try bus.module("Ant")
            for action in ["vouch", "retire", "moduleState"] {
                try bus.operator().refused("bus/\(action)", ["module": "Ant"], with: "forbidden")
                try module.refused("bus/\(action)", ["module": "Ant"], with: "forbidden")
            }
        }
    }
}
