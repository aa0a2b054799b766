public import Strata

// A module with properties: one that callers set, one that they don't, and one without a contract.

public enum Lamp: Interface {
    public static let name = "Lamp"
    public static let members: [any InterfaceMember.Type] = [Brightness.self, Bulb.self]

    /// From 0 to 100.
    public enum Brightness: SettableProperty {
        public static let name = property("brightness")
        public typealias Value = Int
        public static let errors: KeyValuePairs<String, String> = ["Lamp.hot": "It is too hot."]
    }

    /// Nil if there is none.
    public enum Bulb: Property {
        public static let name = property("bulb")
        public typealias Value = BulbKind?
    }

    public struct BulbKind: Codable, Sendable, Equatable {
        public var watts: Int?
    }
}

final class LampModule: Module {
    static let name = "Lamp"

    let brightness = PropertyValue(1)
    let bulb = PropertyValue<Lamp.BulbKind?>(nil)
    let note = PropertyValue("")

    init(bus: Bus) throws {}

    func register(_ exports: inout Exports) throws {
        exports.property(Lamp.Brightness.self, from: brightness) { wanted in
            guard wanted < 90 else { throw ModuleError("Lamp.hot", "\(wanted) is too hot") }
        }
        exports.property(Lamp.Bulb.self, from: bulb)
        exports.property("Extra/note", from: note) { _ in }
    }

    func setUp(_ context: Context) async throws { try brightness.set(2) }
}

/// Observes from its start on.
final class WatcherModule: Module {
    static let name = "Watcher"
    static let level: String? = "middle"

    var seen: [String] = []

    init(bus: Bus) throws {}

    func register(_ exports: inout Exports) throws {
        exports.observe(Lamp.Brightness.self, keep: .all) { self.seen.append("\($0)") }
        exports.observe(Lamp.Bulb.self) { self.seen.append($0.map { "\($0.watts ?? 0) W" } ?? "none") }
        exports.action("Watcher/echo") { try $0.params }
    }
}
