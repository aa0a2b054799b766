import Strata

/// Answers with what came: `action1` at once, `action2` from a task of its own.
final class CalleeModule: Module {
    static let name = "Test"

    private let bus: Bus

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.bytes("Test/action1") { $0.body }
        exports.bytes("Test/action2") { (call) async in call.body }
        exports.action(Test.Store.self) { $0.item }
    }

    func didStart() async throws { print("ready") }
}
