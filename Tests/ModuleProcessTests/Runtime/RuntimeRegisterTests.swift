import StrataCore
import TestSupport
import Testing

@testable import Strata

/// `bus/register` and `bus/unregister`.
@Suite(.timeLimit(.hang))
struct RuntimeRegisterTests {
    private enum Radio: Interface {
        static let name = "Radio"

        struct Tune: Action {
            static let name = action("tune")
            typealias Reply = Int
            var station: Int
        }
    }

    /// Registers `Radio/tune` and another `Player/echo`, and answers for the broker.
    @ModuleActor
    private func register(_ harness: Harness<PlayerModule>) async throws -> Registration {
        let bus = Bus(harness.runtime)
        let registering = Task { @ModuleActor in
            try await bus.register { exports in
                exports.action(Radio.Tune.self) { $0.station + 1 }
                exports.action("Player/echo", auth: true) { _ in "another" }
                exports.action("Player/more") { _ in "more" }
                exports.url("radio.example", "/tune/:station", to: Radio.Tune.self)
                exports.url("player.example", "/play/:track", to: Radio.Tune.self)
            }
        }
        let register = try await harness.peer.expect("call")
        #expect(register["to"] == "bus/register")
        let interfaces = register.body["interfaces"]
        #expect(interfaces?["Radio"] == ["instances": "single", "actions": ["tune": [:]]])
        // The broker replaces an interface as a whole.
        let player = interfaces?["Player"]?["actions"]
        #expect(player?["echo"] == ["auth": true])
        #expect(player?["more"] == [:])
        #expect(player?["play"] == [:])
        #expect(
            register.body["urls"] == [
                ["host": "radio.example", "path": "/tune/:station", "to": "Radio/tune"],
                ["host": "player.example", "path": "/play/:track", "to": "Radio/tune"],
            ])
        harness.peer.reply(register)
        return try await registering.value
    }

    @Test func whatIsRegisteredIsServedUntilItsEnd() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let registration = try await register(harness)
            #expect(try await peer.call("Radio/tune", ["station": 4]).body == 5)
            #expect(try await peer.call("Player/echo", 1).body == "another")
            let ending = Task { @ModuleActor in try await registration.end() }
            let again = try await peer.expect("call")
            #expect(again["to"] == "bus/register")
            #expect(again.body["interfaces"]?.object?.map(\.name) == ["Player"])
            #expect(again.body["interfaces"]?["Player"]?["actions"]?["echo"] == [:])
            #expect(again.body["interfaces"]?["Player"]?["actions"]?["more"] == nil)
            #expect(
                again.body["urls"] == [["host": "player.example", "path": "/play/:track", "to": "Player/play"]])
            // A call that came earlier is still served.
            #expect(try await peer.call("Radio/tune", ["station": 4]).body == 5)
            peer.reply(again)
            let unregister = try await peer.expect("call")
            #expect(unregister["to"] == "bus/unregister")
            #expect(unregister.body["interfaces"]?.object?.map(\.name) == ["Radio"])
            #expect(unregister.body["urls"]?.array?.map { $0["host"] } == ["radio.example"])
            peer.reply(unregister)
            try await ending.value
            #expect(try await peer.call("Radio/tune", ["station": 4])["code"] == "unknown-action")
            #expect(try await peer.call("Player/more")["code"] == "unknown-action")
            #expect(try await peer.call("Player/echo", 1).body == 1)
            try await registration.end()
            _ = try await peer.call("Player/echo", 1)
        }
    }

    /// An older broker would take the star as literal, and nothing would match.
    @Test(.promise("5.38"), arguments: [("*", "/"), ("radio.example", "/*rest")])
    func aBrokerWithoutRestsGetsNone(host: String, path: String) async throws {
        try await withModule(PlayerModule.self) { harness in
            harness.runtime.start()
            harness.peer = try await harness.broker.peer()
            try await harness.peer.welcome(features: ["other"])
            let bus = Bus(harness.runtime)
            let error = await #expect(throws: BusError.self) {
                try await bus.register { $0.url(host, path, to: "Player/play") }
            }
            #expect(error?.code == .badVersion && error?.message.contains("rest-urls") == true)
            // The module continues, and has told the broker nothing.
            #expect(try await harness.peer.call("Player/echo", 1).body == 1)
        }
    }

    /// A module that can't be served as it wants ends and says why.
    private final class Owner: Module {
        static let name = "Owner"
        init(bus: Bus) {}
        func register(_ exports: inout Exports) {
            exports.action("Owner/open") { try $0.params }
            exports.url("*", "/*path", to: "Owner/open")
        }
    }

    @Test(.promise("5.38")) func aModuleThatMapsARestEndsAtAnOlderBroker() async throws {
        try await withModule(Owner.self) { harness in
            harness.runtime.start()
            harness.peer = try await harness.broker.peer()
            try await harness.peer.welcome(features: [])
            await harness.ended()
            #expect(harness.exit?.code == 1)
            #expect(harness.exit?.line?.contains("the URL */*path needs a broker with the feature rest-urls") == true)
        }
    }

    /// The bus would remove the URL, and would refuse the next hello because of it.
    @Test func whatAnothersURLLeadsToIsEndedAfterIt() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let (peer, bus) = (harness.peer!, Bus(harness.runtime))
            let registration = try await register(harness)
            let registering = Task { @ModuleActor in
                try await bus.register { $0.url("other.example", "/:s", to: "RadioRouter/tune") }
            }
            peer.reply(try await peer.expect("call"))
            let url = try await registering.value
            let error = await #expect(throws: BusError.self) { try await registration.end() }
            #expect(error?.code == .badParams && error?.message.contains("other.example/:s") == true)
            #expect(try await peer.call("Radio/tune", ["station": 4]).body == 5)
            let ending = Task { @ModuleActor in
                try await url.end()
                try await registration.end()
            }
            for action in ["unregister", "register", "unregister"] {
                let call = try await peer.expect("call")
                #expect(call["to"] == .string("bus/\(action)"))
                peer.reply(call)
            }
            try await ending.value
        }
    }

    @Test func urlsAreComparedAsTheBusDoes() {
        func isSame(_ one: (String, String), _ other: (String, String)) -> Bool {
            let (one, other) = (
                Exports.URLExport(host: one.0, path: one.1, to: "A/a"),
                Exports.URLExport(host: other.0, path: other.1, to: "B/b")
            )
            return one.isAt(other)
        }
        #expect(isSame(("a.b", "/x/:y"), ("A.b", "/x/:z")))
        #expect(isSame(("a.b", "/x/%79"), ("a.b", "/x/y")))
        #expect(!isSame(("a.b", "/x/:y"), ("a.b", "/x/y")))
        #expect(!isSame(("a.b", "/x"), ("a.c", "/x")))
    }

    @Test func theNextHelloHasIt() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.startFully()
            let registration = try await register(harness)
            harness.peer.close()
            let peer = try await harness.broker.peer()
            let hello = try await peer.welcome()
            #expect(hello.body["interfaces"]?["Radio"]?["actions"] == ["tune": [:]])
            #expect(hello.body["interfaces"]?["Player"]?["actions"]?["more"] == [:])
            #expect(hello.body["urls"]?.array?.count == 2)
            #expect(try await peer.call("Radio/tune", ["station": 1]).body == 2)
            // It ends while the hello that contains it is on its way.
            peer.close()
            let next = try await harness.broker.peer()
            let ending = Task { @ModuleActor in try await registration.end() }
            #expect(try await next.welcome().body["interfaces"]?["Radio"] != nil)
            for action in ["register", "unregister"] {
                let call = try await next.expect("call")
                #expect(call["to"] == .string("bus/\(action)"))
                next.reply(call)
            }
            try await ending.value
            #expect(try await next.call("Radio/tune", ["station": 1])["code"] == "unknown-action")
        }
    }

    @Test func aRefusedOfferIsTakenBack() async throws {
        try await withModule(PlayerModule.self) { harness in
            try await harness.start()
            let peer = harness.peer!
            let bus = Bus(harness.runtime)
            let registering = Task { @ModuleActor in
                try await bus.register { $0.action("Radio/tune") { _ in 1 } }
            }
            peer.fail(try await peer.expect("call"), "name-taken", "Aerial provides Radio")
            let error = await #expect(throws: BusError.self) { try await registering.value }
            #expect(error?.code == .nameTaken)
            #expect(try await peer.call("Radio/tune")["code"] == "unknown-action")
            #expect(harness.runtime.offers.isAsAtStart)
        }
    }

    @Test func whatHelloAloneTakesIsRefusedHere() async throws {
        try await withModule(CartModule.self) { harness in
            try await harness.start()
            let bus = Bus(harness.runtime)
            let offers: [@ModuleActor (inout Exports) -> Void] = [
                { $0.observe("news") { _ in } }, { $0.event("app.reload") { _ in } }, { $0.requires("Login") },
                { $0.broadcasts("news") }, { $0.reports("news", to: "Log") },
                { $0.action("Cart/add") { _ in 1 } },
                { $0.instances(of: "Till", make: { $0 as AnyObject }) { $0.action("x") { _, _ in 1 } } },
            ]
            for offer in offers {
                let error = await #expect(throws: BusError.self) { try await bus.register(offer) }
                #expect(error?.code == .badParams)
            }
            _ = try await harness.peer.call("Till/count")
        }
    }
}
