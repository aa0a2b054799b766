import Foundation
import StrataCore
import StrataTesting
import Testing

@Suite(.timeLimit(.hang))
struct ThermostatTests {
    /// The module under test and the modules that it talks to, as in its app.
    let table = AppTable.testing(
        .manual("Log"), .manual("Sensor", provides: ["Sensor"]), .manual("Thermostat", rank: 1),
        .manual("Display", rank: 2))

    @Test func heatIsBroadcastToLaterLevelsAndReportedToLog() throws {
        try TestBus.run(table) { bus in
            try bus.play("Sensor", provides: ["Sensor"]) { script in
                script.expectCall("Sensor/read").reply(["degrees": 20])
                script.expectCall("Sensor/read").reply(["degrees": 75])
            }
            try bus.play("Log", ["observes": ["heat.alarm"]]) { script in
                script.expectNotice("heat.alarm", ["degrees": 75]).reply()
            }
            let display = try bus.module("Display", ["observes": ["heat.changed"]])
            try bus.start(BuiltExecutable.path("GuideModule"), as: "Thermostat")

            let tool = try bus.operator()
            #expect(try tool.asked("Thermostat/update") == ["degrees": 20])
            try display.expectNotice("heat.changed", ["degrees": 20], ["from": "Thermostat"])
            #expect(try tool.asked("Thermostat/update") == ["degrees": 75])
            try display.expectNotice("heat.changed", ["degrees": 75])
            try display.expectNothing()
        }
    }

    @Test func itsLimitIsASettingAndItsFileIsInItsOwnFolder() throws {
        let sensitive = AppTable.testing(table.modules) { $0.settings = ["heat.limit": 10] }
        try TestBus.run(sensitive) { bus in
            try bus.play("Sensor", provides: ["Sensor"]) { $0.expectCall("Sensor/read").reply(["degrees": 20]) }
            let log = try bus.module("Log", ["observes": ["heat.alarm"]])
            try bus.start(BuiltExecutable.path("GuideModule"), as: "Thermostat")

            let tool = try bus.operator()
            let update = try tool.call("Thermostat/update")
            try log.reply(to: try log.expectNotice("heat.alarm", ["degrees": 20], within: .seconds(600)))
            try tool.expectReply(to: update)
            let file = try bus.folder(of: "Thermostat") + "/degrees"
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "20\n")
        }
    }

    @Test func aSensorAnswersInPartsAndBroadcasts() throws {
        try TestBus.run(table) { bus in
            let display = try bus.module("Display", ["observes": ["sensor.reset"]])
            let tool = try bus.operator()
            try bus.play("Sensor") { script in
                script.expectCall("Sensor/follow").partialReply(["degrees": 20]).partialReply(["degrees": 21]).reply()
                script.expectCall("Sensor/reset").broadcast("sensor.reset", ["by": "hand"]).reply()
            }
            let id = try tool.call("Sensor/follow", nil, ["credit": 2])
            try tool.expect(["kind": "reply", "more": true], body: ["degrees": 20])
            try tool.expect(["kind": "reply", "more": true], body: ["degrees": 21])
            try tool.credit(id, 8)
            try tool.expectReply(to: id)
            try tool.asked("Sensor/reset")
            try display.expectNotice("sensor.reset", ["by": "hand"])
        }
    }

    @Test func aBrokenSensorIsTheCallersError() throws {
        try TestBus.run(table) { bus in
            try bus.play("Sensor", provides: ["Sensor"]) { script in
                script.expectCall("Sensor/read").fail("Sensor.unplugged", "no cable")
            }
            try bus.start(BuiltExecutable.path("GuideModule"), as: "Thermostat")
            let error = try bus.operator().ask("Thermostat/update")
            #expect(error.kind == "error" && error.message.contains("no cable"))
        }
    }

    @Test func aSensorThatDiesIsNoReasonToDie() throws {
        try TestBus.run(table) { bus in
            try bus.play("Sensor", provides: ["Sensor"]) { $0.expectCall("Sensor/read").die() }
            let module = try bus.start(BuiltExecutable.path("GuideModule"), as: "Thermostat")
            #expect(try bus.operator().ask("Thermostat/update").kind == "error")
            #expect(try bus.state(of: "Thermostat") == "ready")

            module.send(signal: SIGTERM)
            #expect(try module.wait() == .exit(0))
        }
    }
}
