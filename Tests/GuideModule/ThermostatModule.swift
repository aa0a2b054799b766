import Glibc
import Strata

/// The module that docs/testing.md tests. It asks a sensor, broadcasts changes to later levels,
/// and reports errors to Log. It keeps the last notice in a file of its folder.
@main
final class ThermostatModule: Module {
    static let name = "Thermostat"
    private let bus: Bus
    private var last: Int64?
    private var limit: Int64 = 60

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.action("Thermostat/update") { _ in try await self.update() }
    }

    func setUp(_ context: Context) async throws { limit = context.settings["heat.limit"]?.integer ?? limit }

    private func update() async throws -> JSON {
        let degrees = try await bus.call("Sensor/read")["degrees"]?.integer ?? 0
        if degrees > limit { _ = try await bus.report("heat.alarm", ["degrees": .integer(degrees)], to: "Log") }
        if degrees != last { try bus.broadcast("heat.changed", ["degrees": .integer(degrees)]) }
        last = degrees
        if let file = fopen("degrees", "we") {
            fputs("\(degrees)\n", file)
            fclose(file)
        }
        return ["degrees": .integer(degrees)]
    }
}
