import StrataCore
import StrataTesting
import Testing

/// The protocol's section 6: a call is judged in one order, and the first
/// check that it fails is told.
@Suite(.timeLimit(.hang))
struct CheckOrderTests {
    /// Ant and its interfaces come where a case is about a live owner; Late is
    /// of a later level, and nobody starts it.
    private static let table = AppTable.testing(
        .manual("Ant", rank: 1, provides: ["Here"]), .manual("Absent", rank: 1, provides: ["Gone", "Wanted"]),
        .manual("Late", rank: 2, provides: ["Later"]), .manual("Bee", rank: 1) { $0.requires = ["Here", "Wanted"] }
    ) { $0.calls = .declared }

    /// Each destination fails the check of its code and all that come later,
    /// as far as they go together.
    @Test(arguments: [
        ("Nowhere/act", "unknown-interface"), ("Later/act", "level-violation"), ("Gone/act", "undeclared"),
        ("Wanted/act", "unavailable"), ("Here/nothing", "unknown-action"), ("Here/guarded", "unauthorized"),
    ])
    func theFirstCheckThatFailsIsTold(to: String, code: String) throws {
        try TestBus.run(Self.table) { bus in
            let owner = try bus.module("Ant", ["interfaces": ["Here": ["actions": ["guarded": ["auth": true]]]]])
            let error = try bus.module("Bee").refused(to, with: code)
            #expect(!error.message.isEmpty)
            try owner.expectNothing()
        }
    }

    @Test func aRefusalOfThePolicyNamesBothLevelsAndWhatToDo() throws {
        try TestBus.run(Self.table) { bus in
            let caller = try bus.module("Bee")
            let violation = try caller.refused("Later/act", with: "level-violation").message
            for word in ["middle", "topout", "broadcast"] { #expect(violation.contains(word), "\(violation)") }
            let undeclared = try caller.refused("Gone/act", with: "undeclared").message
            for word in ["Gone", "middle", "requires"] { #expect(undeclared.contains(word), "\(undeclared)") }
            let report = try caller.expectError(to: try caller.report("news", to: "Late"), "level-violation").message
            for word in ["middle", "topout", "broadcast"] { #expect(report.contains(word), "\(report)") }
        }
    }

    /// Its own interfaces need no declaration, and operators none at all.
    @Test func ownInterfacesAndOperatorsAreFreeOfTheDeclaration() throws {
        try TestBus.run(Self.table) { bus in
            let owner = try bus.module("Ant", ["interfaces": ["Here": [:], "More": [:]]])
            try owner.call("More/act")
            try owner.expectCall("More/act", nil, ["from": "Ant"])
            try bus.operator().call("More/act")
            try owner.expectCall("More/act", nil, ["from": "operator"])
        }
    }
}
