import StrataCore
import StrataTesting
import Testing

/// The protocol's section 6: a call is checked in a fixed order, and the first failed check is
/// reported.
@Suite(.timeLimit(.hang))
struct CheckOrderTests {
    /// Ant connects only for cases with a live owner. Late is of a later level and is never
    /// started.
    private static let table = AppTable.testing(
        .manual("Ant", rank: 1, provides: ["Here"]), .manual("Absent", rank: 1, provides: ["Gone", "Wanted"]),
        .manual("Late", rank: 2, provides: ["Later"]), .manual("Bee", rank: 1) { $0.requires = ["Here", "Wanted"] }
    ) { $0.calls = .declared }

    private static let here: JSON = ["interfaces": ["Here": ["actions": ["act": [:], "guarded": ["auth": true]]]]]

    /// Each destination fails the check of its code and, as far as possible, all later checks.
    @Test(.promise("6.19")) func theFirstFailedCheckIsReported() throws {
        try TestBus.run(Self.table) { bus in
            let owner = try bus.module("Ant", Self.here)
            let caller = try bus.module("Bee")
            for (to, code) in [
                ("Nowhere/act", "unknown-interface"), ("Later/act", "level-violation"), ("Gone/act", "undeclared"),
                ("Wanted/act", "unavailable"), ("Here/nothing", "unknown-action"), ("Here/guarded", "unauthorized"),
            ] {
                #expect(try !caller.refused(to, with: code).message.isEmpty)
            }
            try owner.expectNothing()
        }
    }

    /// The bus makes some checks only when it takes a place. They keep the judge's order, too:
    /// after the action the request, then its parent, then the authorizer.
    @Test(.promise("6.19")) func placesAreTakenInTheJudgesOrder() throws {
        var table = Self.table
        table.limits.calls = 1
        try MemoryBus.run(table) { bus in
            let owner = try bus.module("Ant", Self.here)
            let caller = try bus.module("Bee")
            let parent: JSON = ["parent": 99]
            try caller.refused("Here/guarded", nil, parent, with: "cancelled")
            let open = try caller.call("Here/act")
            let call = try owner.expectCall("Here/act")
            try caller.refused("Here/nothing", nil, parent, with: "unknown-action")
            try caller.refused("Here/guarded", nil, parent, with: "overloaded")
            try owner.reply(to: call)
            try caller.expectReply(to: open)
        }
    }

    @Test(.promise("12.20")) func aRefusalOfThePolicyNamesBothLevelsAndWhatToDo() throws {
        try MemoryBus.run(Self.table) { bus in
            let caller = try bus.module("Bee")
            let violation = try caller.refused("Later/act", with: "level-violation").message
            for word in ["middle", "topout", "broadcast"] { #expect(violation.contains(word), "\(violation)") }
            let undeclared = try caller.refused("Gone/act", with: "undeclared").message
            for word in ["Gone", "middle", "requires"] { #expect(undeclared.contains(word), "\(undeclared)") }
            let report = try caller.expectError(to: try caller.report("news", to: "Late"), "level-violation").message
            for word in ["middle", "topout", "broadcast"] { #expect(report.contains(word), "\(report)") }
        }
    }

    /// A module's own interfaces need no declaration, and operators need none at all.
    @Test(.promise("6.20")) func ownInterfacesAndOperatorsAreFreeOfTheDeclaration() throws {
        try MemoryBus.run(Self.table) { bus in
            let owner = try bus.module("Ant", ["interfaces": ["Here": [:], "More": [:]]])
            try owner.call("More/act")
            try owner.expectCall("More/act", nil, ["from": "Ant"])
            try bus.operator().call("More/act")
            try owner.expectCall("More/act", nil, ["from": "operator"])
        }
    }
}
