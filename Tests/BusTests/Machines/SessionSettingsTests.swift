import StrataCore
import Testing

@testable import StrataBus

struct SessionSettingsTests {
    /// What follows when the table's values change: whether the module is asked, and what is pending.
    private struct Session {
        var settings = SessionSettings([SettingKey(name: "a"), SettingKey(name: "b", isSecret: true)])

        mutating func change(to values: [UInt64]) -> String {
            let isAsked = settings.changed(to: values)
            return ((isAsked ? ["asked"] : []) + settings.pending).joined(separator: " ")
        }
    }

    @Test func moduleIsAskedForWhatItHasNot() {
        var session = Session()
        session.settings.begin([1, 2])
        let first = [session.change(to: [1, 2]), session.change(to: [1, 3]), session.change(to: [2, 3])]
        #expect(first == ["", "asked b", "a b"])
        session.settings.answered(hasTaken: true)
        #expect(session.settings.held == [1, 3])
        let second = session.change(to: [2, 3])
        session.settings.answered(hasTaken: false)
        // What it refused is offered again only after another change.
        let later = [session.change(to: [2, 3]), session.change(to: [1, 3]), session.change(to: [2, 3])]
        #expect([second] + later == ["asked a", "a", "", "asked a"])
    }

    @Test func nobodyKnowsWhatAResumedModuleHas() {
        var session = Session()
        let first = session.change(to: [1, 0])
        session.settings.answered(hasTaken: false)
        #expect([first, session.settings.pending.joined()] == ["asked", "a"])
    }

    @Test func digestsTellValuesApart() {
        let values: [JSON] = [.null, false, true, 0, 1, "", "0", [], [:], [nil], ["a": 1], ["b": 1], 1.5]
        #expect(Set(values.map { SettingTable.digest($0) }).count == values.count)
        #expect(SettingTable.digest(Optional<JSON>.none) == 0 && SettingTable.digest(JSON.null) != 0)
        // The next program makes the same.
        #expect(SettingTable.digest("hat") == 0xA281_8902_A6CB_42E0)
    }
}
