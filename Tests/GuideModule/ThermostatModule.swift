import Strata

/// The module that docs/testing.md tests: it asks a sensor, tells later levels
/// what changed, and reports to Log what is wrong.
@main
final class ThermostatModule: Module {
    static let name = "Thermostat"
    private let bus: Bus
    private var last: Int64?

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.action("Thermostat/update") { _ in try await self.update() }
    }

    private func update() async throws -> JSON {
        let degrees = try await bus.call("Sensor/read")["degrees"]?.integer ?? 0
        if degrees > 60 { _ = try await bus.report("heat.alarm", ["degrees": .integer(degrees)], to: "Log") }
        if degrees != last { try bus.broadcast("heat.changed", ["degrees": .integer(degrees)]) }
        last = degrees
        return ["degrees": .integer(degrees)]
    }
}
