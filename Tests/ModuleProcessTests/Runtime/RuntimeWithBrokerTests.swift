import StrataCore
import Testing

@testable import Strata

/// Modules and the real broker, all on one loop.
@Suite(.timeLimit(.hang))
struct RuntimeWithBrokerTests {
    @Test func twoModulesWorkTogether() async throws {
        let manifest = """
            app: demo
            schemes: [demo]
            modules:
              Library: {start: manual}
              Player: {level: middle, start: manual}
            """
        try await RuntimeApp.run(manifest, [LibraryModule.self, PlayerModule.self]) { app in
            let bus = app.bus(of: PlayerModule.self)
            let player = app.module(PlayerModule.self)
            #expect(try await bus.open("demo://player.example/play/12", as: Double.self) == 18)
            #expect(player.steps == ["setUp", "initialize", "didStart"])
            #expect(try await bus.canOpen("demo://player.example/nothing") == false)
            #expect(try await bus.report(Player.Broken(reason: "dust"), to: "Library") == 1)
            var tracks = 0
            for try await track in try bus.stream(LibraryModule.All(most: 100)) {
                #expect(track == tracks)
                tracks += 1
            }
            #expect(tracks == 100)
            try await bus.mark("tracks read")
            let unnamed = await #expect(throws: BusError.self) { try await bus.mark("") }
            #expect(unnamed?.code == .badParams)
            // Down the table, and never back up.
            let library = app.bus(of: LibraryModule.self)
            try library.broadcast(Library.TrackRemoved(id: 4))
            try bus.broadcast(Library.TrackRemoved(id: 5))
            _ = try await library.call("Player/echo", 1)
            #expect(player.removed == [4])
            let error = await #expect(throws: BusError.self) {
                try await bus.call("Library/wait", deadline: .seconds(600))
            }
            #expect(error?.code == "Library.tired")
            let late = await #expect(throws: BusError.self) {
                try await bus.call("Library/wait", ["long": true], deadline: .milliseconds(20))
            }
            #expect(late?.code == .deadlineExceeded)
            #expect(player.steps.last == "didStart")
        }
    }

    @Test(.promise("7.25", "7.27")) func whatIsRetainedComesToObserversThatBegin() async throws {
        let manifest = """
            app: demo
            schemes: [demo]
            modules:
              Library: {start: manual}
              Player: {level: middle, start: manual}
            """
        try await RuntimeApp.run(manifest, [LibraryModule.self, PlayerModule.self]) { app in
            let (library, player) = (app.bus(of: LibraryModule.self), app.bus(of: PlayerModule.self))
            try library.broadcast("state", 1, retain: true)
            #expect(try await library.broadcastAndCount("state", 2, object: "x", retain: true) == 0)
            #expect(try await library.broadcastAndCount(Library.TrackRemoved(id: 4), retain: true) == 1)
            var seen: [String] = []
            let note: @ModuleActor @Sendable (Delivery) async throws -> Void = { delivery in
                seen.append("\(try delivery.content) \(delivery.object ?? "-") \(delivery.isRetained)")
            }
            try await player.observe("state", perform: note)
            try library.broadcast("state", 3, retain: true)
            _ = try await library.call("Player/echo", 1)
            #expect(seen == ["1 - true", "2 x true", "3 - false"])
            #expect(try await library.forget("state", object: "x") == 1)
            #expect(try await library.forget(Library.TrackRemoved.self) == 1)
            #expect(try await library.forget("state") == 1)
            try await player.observe("state", perform: note)
            try await player.observe(Library.TrackRemoved.self) { _ in seen.append("removed") }
            _ = try await library.call("Player/echo", 1)
            #expect(seen.count == 3)
        }
    }

    @Test func whatIsRegisteredLaterIsThereForAllUntilItsEnd() async throws {
        try await withStore { app, store, bus in
            let owner = app.bus(of: CartModule.self)
            let registration = try await owner.register { exports in
                exports.action("Shop/open") { _ in "open" }
                exports.url("shop.example", "/open", to: "Shop/open")
                exports.action("Till/more") { _ in "more" }
                exports.instances(of: "Basket", make: { _ in Gone() }) {
                    $0.action("name") { _, call in .string(call.to) }
                }
            }
            #expect(try await bus.open("demo://shop.example/open") == "open")
            #expect(try await bus.call("Till/more") == "more")
            #expect(try await bus.call("Till/count") == 0)
            let basket = try await bus.create("Basket")
            #expect(try await basket.call("name") == .string("\(basket.name)/name"))
            // Because there is a session when it is ready.
            app.runtime(of: CartModule.self).connection.lose(app.runtime(of: CartModule.self).connection.session!)
            _ = try await owner.call("bus/ping")
            #expect(try await bus.open("demo://shop.example/open") == "open")
            try await registration.end()
            for (to, code) in [("Shop/open", ErrorCode.unknownInterface), ("Till/more", .unknownAction)] {
                let error = await #expect(throws: BusError.self) { try await bus.call(to) }
                #expect(error?.code == code)
            }
            #expect(try await bus.canOpen("demo://shop.example/open") == false)
            #expect(try await bus.call("Till/count") == 0)
        }
    }

    // MARK: Instances

    private static let store = """
        app: demo
        schemes: [demo]
        limits: {instances: 2}
        modules:
          Store: {start: manual}
          Library: {start: manual}
          Player: {level: middle, start: manual}
        """

    private func withStore(_ test: @ModuleActor (RuntimeApp, CartModule, Bus) async throws -> Void) async throws {
        try await RuntimeApp.run(Self.store, [CartModule.self, LibraryModule.self, PlayerModule.self]) { app in
            try await test(app, app.module(CartModule.self), app.bus(of: PlayerModule.self))
        }
    }

    @Test(.promise("I.4")) func usersHaveInstancesOfTheirOwn() async throws {
        try await withStore { app, store, bus in
            let mine = try await bus.create(Cart.self)
            let theirs = try await app.bus(of: LibraryModule.self).create("CartRouter")
            #expect(try await mine.call(Cart.Add(thing: "hat")) == 1)
            #expect(try await theirs.call(Cart.Add(thing: "coat")) == 1)
            #expect(try await mine.call("owner") == ["Player", "Player"])
            #expect(try await theirs.call("owner") == ["Library", "Library"])
            var things: [String] = []
            for try await thing in try mine.stream(Cart.Things()) { things.append(thing) }
            #expect(things == ["hat"])
            let foreign = await #expect(throws: BusError.self) { try await bus.call("\(theirs.name)/owner") }
            #expect(foreign?.code == .unknownInstance)
            try await mine.release()
            // The owner is notified before it gets later frames.
            _ = try await bus.call("Till/count")
            #expect(store.released == [mine.name])
            try await theirs.release()
        }
    }

    @Test func anInstanceEndsWithItsLastReference() async throws {
        try await withStore { _, store, bus in
            // More than there may be at a time.
            for number in 1...5 as ClosedRange<Int64> {
                do {
                    let cart = try await bus.create(Cart.self)
                    #expect(try await cart.call(Cart.Add(thing: "hat")) == 1)
                }
                while try await bus.call("Till/count") != .integer(number) {}
            }
            #expect(store.freed.count == 5)
            let till = try await bus.create("Till")
            #expect(till.name == "Till")
            #expect(try await till.call("count") == 5)
        }
    }

    @Test func instancesEndWithTheirUsersConnection() async throws {
        try await withStore { app, store, bus in
            let cart = try await bus.create(Cart.self)
            _ = try await cart.call(Cart.Add(thing: "hat"))
            // Because there is a session when it is ready.
            app.runtime(of: PlayerModule.self).connection.lose(app.runtime(of: PlayerModule.self).connection.session!)
            let library = app.bus(of: LibraryModule.self)
            while try await library.call("Till/count") != 1 {}
            #expect(store.freed == [cart.name])
            // It reconnects by itself.
            let other = try await bus.create(Cart.self)
            #expect(try await other.call(Cart.Add(thing: "hat")) == 1)
            let error = await #expect(throws: BusError.self) { try await cart.call(Cart.Clear()) }
            #expect(error?.code == .unknownInstance)
        }
    }

    @Test func instancesEndWithTheirOwnersConnection() async throws {
        try await withStore { app, store, bus in
            let cart = try await bus.create(Cart.self)
            _ = try await cart.call(Cart.Add(thing: "hat"))
            // Because there is a session when it is ready.
            app.runtime(of: CartModule.self).connection.lose(app.runtime(of: CartModule.self).connection.session!)
            // It waits until the connection is made again.
            _ = try await app.bus(of: CartModule.self).call("bus/ping")
            #expect(try await bus.call("Till/count") == 1)
            #expect(store.freed == [cart.name])
            let error = await #expect(throws: BusError.self) { try await cart.call(Cart.Clear()) }
            #expect(error?.code == .unknownInstance)
            let other = try await bus.create(Cart.self)
            #expect(try await other.call(Cart.Add(thing: "hat")) == 1)
        }
    }
}

final class LibraryModule: Module {
    static let name = "Library"
    init(bus: Bus) {}

    struct All: StreamingAction {
        static let name = Library.action("all")
        typealias Element = Int
        var most: Int
    }

    func register(_ exports: inout Exports) {
        exports.action(Library.Find.self) { find, call in
            guard call.from == "Player" else { throw ModuleError("Library.private", "not for \(call.from)") }
            return Library.Track(id: find.id, length: Double(find.id) * 1.5)
        }
        exports.stream(All.self) { request in
            AsyncStream { continuation in
                for id in 0..<request.most { continuation.yield(id) }
                continuation.finish()
            }
        }
        exports.observe(Player.Broken.self) { broken, delivery in
            guard delivery.isReport, broken.reason == "dust" else { throw ModuleError("Library.what", "not dust") }
        }
        exports.action("Library/wait") { call in
            if try call.params["long"]?.bool == true { try await sleep(milliseconds: 60_000) }
            throw ModuleError("Library.tired", "wait yourself")
        }
    }
}
