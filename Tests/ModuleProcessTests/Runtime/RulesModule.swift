import StrataCore

@testable import Strata

/// The contract of a module that pushes numbers to its readers.
enum Rules: Interface {
    static let name = "Rules"

    struct Latest: StreamingAction {
        static let name = action("latest")
        typealias Element = Int
        var least: Int?
    }

    struct All: StreamingAction {
        static let name = action("all")
        typealias Element = Int
    }

    struct Quick: StreamingAction {
        static let name = action("quick")
        typealias Element = Int
    }

    struct List: StreamingAction {
        static let name = action("list")
        typealias Element = Int
    }

    struct Set: Broadcast {
        static let name = "rules.set"
        var count: Int
    }
}

/// Exports a topic of each overflow, with room for two elements.
@ModuleActor
final class RulesModule: Module {
    nonisolated static let name = "Rules"
    let latest = Topic<Int>(buffer: 2, overflow: .dropOldest)
    let all = Topic<Int>(buffer: 2, overflow: .waitForReader)
    let quick = Topic<Int>(buffer: 2, overflow: .endSlow)
    let untyped = Topic<JSON>()
    var retired = 0

    init(bus: Bus) {}

    func register(_ exports: inout Exports) {
        exports.stream(
            Rules.Latest.self, from: latest, startingWith: { $0.least.map { [$0] } ?? [] },
            where: { $1 >= $0.least ?? 0 })
        exports.stream(Rules.All.self, from: all)
        exports.stream(Rules.Quick.self, from: quick)
        exports.stream(Rules.List.self) { _ in [1, 2, 3] }
        exports.stream("Rules/lines") { _ in ["one", "two"] as [JSON] }
        exports.stream("Rules/untyped", from: untyped)
        exports.action("Rules/echo") { call in try call.params }
        exports.url("rules", "/latest/:least", to: Rules.Latest.self)
    }

    func retiring() { retired = latest.readers }
}
