import Strata

/// A module that does nothing: what is left is what each one costs.
final class MinimalModule: Module {
    static let name = "Minimal"

    init(bus: Bus) {}

    func register(_ exports: inout Exports) {}

    func didStart() async throws { print("ready") }
}
