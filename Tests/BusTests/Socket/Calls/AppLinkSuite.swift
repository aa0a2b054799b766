import StrataCore
import StrataTesting
import Testing

@testable import StrataBus
@testable import StrataTesting

/// The part that the tests of links to other apps share: `Shop` may open URLs of the app `catalog`,
/// which the test plays.
protocol AppLinkSuite {}

extension AppLinkSuite {
    static var catalog: OtherApp { OtherApp(.name("catalog")) }

    static func table(
        _ schemes: [String: OtherApp] = ["catalog": catalog], _ change: (inout AppTable) -> Void = { _ in }
    ) -> AppTable {
        .testing(
            .manual("Shop", provides: ["Shop"]) { row in
                row.opens = schemes.sorted { $0.key < $1.key }.map { .init(scheme: $0.key, app: $0.value) }
            }, .manual("Other"), with: change)
    }

    /// Runs a test on a bus in memory: the test plays the app that the bus connects to.
    static func run(_ table: AppTable = table(), _ test: (TestBus) throws -> Void) throws {
        try TestBus(table, MemoryBus(table, isLaunched: false)).run { bus in
            bus.reachesOtherApps()
            try test(bus)
        }
    }

    /// Takes the bus's hello, and answers it.
    static func greeted(_ bus: TestBus, _ index: Int = 0, frame: Int64 = 1_048_576, header: Int64 = 16_384) throws
        -> RawPeer
    {
        let app = try bus.otherApp(index)
        let hello = try app.expect(
            ["kind": "call", "to": "bus/hello"], body: ["protocol": 1, "role": "app", "app": "test"])
        try app.expectNothing(within: bus)
        try app.reply(to: hello, ["app": "any", "limits": ["frame": .integer(frame), "header": .integer(header)]])
        return app
    }
}

extension RawPeer {
    /// Expects that nothing has come, without a round trip: the bus answers nothing on a link.
    func expectNothing(within bus: TestBus) throws {
        #expect(try nextIfAny(within: .milliseconds(1)) == nil)
    }
}
