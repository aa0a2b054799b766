import Strata

/// A module that calls nothing, and so doesn't keep its bus.
@main
final class BuslessModule: Module {
    static let name = "Busless"

    init(bus: Bus) {}

    func register(_ exports: inout Exports) {
        exports.bytes("Busless/echo") { call in call.body }
    }
}
