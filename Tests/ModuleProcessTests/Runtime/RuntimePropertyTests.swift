import StrataContracts
import StrataCore
import Testing

@testable import Strata

/// Properties of modules, under the real broker.
@Suite(.timeLimit(.hang))
struct RuntimePropertyTests {
    private static let manifest = """
        app: demo
        modules:
          Lamp: {start: manual}
          Watcher: {level: middle, start: manual}
        """

    private func withLamp(
        _ test: @ModuleActor (RuntimeApp, LampModule, WatcherModule, Bus) async throws -> Void
    ) async throws {
        try await RuntimeApp.run(Self.manifest, [LampModule.self, WatcherModule.self]) { app in
            let watcher = app.module(WatcherModule.self)
            try await test(app, app.module(LampModule.self), watcher, app.bus(of: WatcherModule.self))
        }
    }

    @Test(.promise("7.40", "7.42")) func aPropertyIsReadSetAndObserved() async throws {
        try await withLamp { app, lamp, watcher, bus in
            // What it was before the end of setUp was told to nobody.
            #expect(watcher.seen.sorted() == ["2", "none"])
            #expect(try await bus.get(Lamp.Brightness.self) == 2)
            #expect(try await bus.get(Lamp.Bulb.self) == nil)
            watcher.seen = []
            try await bus.set(Lamp.Brightness.self, to: 50)
            // The set was answered after the change was told.
            #expect(watcher.seen == ["50"] && lamp.brightness.value == 50)
            try lamp.bulb.set(.init(watts: 7))
            _ = try await app.bus(of: LampModule.self).call("Watcher/echo", 1)
            #expect(watcher.seen == ["50", "7 W"])
            #expect(try await bus.get(Lamp.Bulb.self) == .init(watts: 7))
            // The names and the bodies of the protocol.
            #expect(try await bus.call("Lamp/brightness") == 50)
            #expect(try await bus.call("Lamp/brightness.set", ["value": 51]) == [:])
            #expect(try await bus.call("Extra/note") == "")
            #expect(try await bus.call("Extra/note.set", ["value": "x"]) == [:])
            #expect(lamp.note.value == "x")
        }
    }

    @Test(.promise("7.41")) func anObserverThatBeginsGetsThePresentValueFirst() async throws {
        try await withLamp { app, lamp, watcher, bus in
            try lamp.brightness.set(3)
            var seen: [Int] = []
            let observation = try await bus.observe(Lamp.Brightness.self, keep: .all) { seen.append($0) }
            try lamp.brightness.set(4)
            try await bus.set(Lamp.Brightness.self, to: 5)
            #expect(seen == [3, 4, 5])
            try await observation.end()
            try await bus.set(Lamp.Brightness.self, to: 6)
            #expect(seen == [3, 4, 5])
        }
    }

    @Test(.promise("7.41")) func anEqualValueTellsNothingAndARefusedOneChangesNothing() async throws {
        try await withLamp { app, lamp, watcher, bus in
            watcher.seen = []
            try await bus.set(Lamp.Brightness.self, to: 2)
            try lamp.brightness.set(2)
            let hot = await #expect(throws: BusError.self) { try await bus.set(Lamp.Brightness.self, to: 95) }
            #expect(hot?.code == "Lamp.hot")
            for params: JSON in [["value": "x"], [:], nil, ["valeu": 1]] {
                let bad = await #expect(throws: BusError.self) { try await bus.call("Lamp/brightness.set", params) }
                #expect(bad?.code == .badParams, "\(params)")
            }
            let readOnly = await #expect(throws: BusError.self) { try await bus.call("Lamp/bulb.set", ["value": nil]) }
            #expect(readOnly?.code == .unknownAction)
            _ = try await app.bus(of: LampModule.self).call("Watcher/echo", 1)
            #expect(watcher.seen.isEmpty && lamp.brightness.value == 2)
        }
    }

    @Test(.promise("7.42")) func itIsToldAgainAfterALostConnection() async throws {
        try await withLamp { app, lamp, watcher, bus in
            watcher.seen = []
            let connection = app.runtime(of: LampModule.self).connection
            connection.lose(connection.session!)  // because it is ready
            // Nothing is told without a connection, and nothing is lost.
            try lamp.brightness.set(8)
            _ = try await app.bus(of: LampModule.self).call("bus/ping")
            #expect(try await bus.get(Lamp.Brightness.self) == 8)
            #expect(watcher.seen.contains("8"))
            var seen: [Int] = []
            try await bus.observe(Lamp.Brightness.self) { seen.append($0) }
            _ = try await app.bus(of: LampModule.self).call("Watcher/echo", 1)
            #expect(seen == [8])
        }
    }

    @Test(.promise("M.183")) func theContractHasItOnceWithItsType() async throws {
        let hello = try await Task { @ModuleActor in try ModuleRuntime.describe(LampModule.self) }.value
        let json = try JSON(parsing: Array(hello.utf8))
        #expect(json["broadcasts"] == ["Lamp.brightness", "Lamp.bulb", "Extra.note"])
        let contracts = try ModuleContracts(json: try #require(json["contracts"]))
        let extra = try #require(contracts.provides.first)
        #expect(extra.properties.map(\.name) == ["note"] && extra.properties[0].isSettable)
        let lamp = try #require(contracts.provides.last)
        #expect(lamp.actions.isEmpty && lamp.broadcasts.isEmpty)
        #expect(
            lamp.json()["properties"] == [
                "brightness": [
                    "settable": true, "auth": false, "value": ["type": "integer"],
                    "errors": ["Lamp.hot": ["description": "It is too hot."]],
                ],
                "bulb": ["value": ["anyOf": [["$ref": "#/$defs/BulbKind"], ["type": "null"]]]],
            ])
        #expect(contracts.module.broadcasts.map(\.name) == ["Extra.note", "Lamp.brightness", "Lamp.bulb"])
        #expect(contracts.types["/provides/1/properties/bulb"]?.hasSuffix("Lamp.Bulb") == true)
    }

    /// A provider that exports a property otherwise than its interface lists it.
    private final class HalfModule: Module {
        static let name = "Half"
        init(bus: Bus) throws {}
        func register(_ exports: inout Exports) throws {
            exports.property(Lamp.Brightness.self, from: PropertyValue(1))
        }
    }

    @Test func aListedPropertyMustBeExported() async throws {
        let error = await #expect(throws: (any Error).self) {
            try await Task { @ModuleActor in try ModuleRuntime.describe(HalfModule.self) }.value
        }
        #expect(
            error.map { "\($0)" }?.contains("Lamp lists the property bulb in its members, and Lamp/bulb isn't") == true)
    }
}
