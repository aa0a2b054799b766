import StrataCore
import StrataTesting
import Testing

/// The protocol's section 10: `register` and `unregister`.
@Suite(.timeLimit(.hang))
struct RegisterTests {
    @Test(.promise("10.2", "I.9")) func whatIsRegisteredLaterIsCalledLater() throws {
        try TestBus.run(.sixModules()) { bus in
            let owner = try bus.module("Ant")
            let caller = try bus.module("Bee")
            try caller.refused("Late/act", with: "unknown-interface")
            try owner.asked("bus/register", ["interfaces": ["LateRouter": ["actions": ["act": [:]]]]])
            try caller.call("Late/act")
            try owner.expectCall("Late/act")
            try caller.refused("Late/other", with: "unknown-action")
            // Registering one's own interface again replaces it.
            try owner.asked("bus/register", ["interfaces": ["Late": ["actions": ["other": [:]]]]])
            try caller.refused("Late/act", with: "unknown-action")
            try caller.call("Late/other")
            try owner.expectCall("Late/other")
            try owner.asked("bus/unregister", ["interfaces": ["Late": [:]]])
            try caller.refused("Late/other", with: "unknown-interface")
        }
    }

    @Test(.promise("10.2")) func aURLThatIsRegisteredAgainCountsOnce() throws {
        var table = AppTable.sixModules()
        table.limits.urls = 2
        try MemoryBus.run(table) { bus in
            let owner = try bus.module("Ant", ["interfaces": ["Own": ["actions": ["a": [:], "b": [:]]]]])
            for action in ["a", "b", "a"] {
                let url: JSON = ["host": "test", "path": "/", "to": .string("Own/\(action)")]
                try owner.asked("bus/register", ["urls": [url]])
            }
            let rows = try bus.operator().asked("bus/modules")["modules"]?.array ?? []
            #expect(rows.first { $0["name"] == "Ant" }?["usage"]?["urls"] == 1)
        }
    }

    @Test(.promise("10.2", "12.23")) func registeringIsAllOrNothing() throws {
        try MemoryBus.run(.sixModules()) { bus in
            _ = try bus.provider("Ant", "Taken")
            let owner = try bus.module("Bee")
            try owner.refused("bus/register", ["interfaces": ["Free": [:], "Taken": [:]]], with: "name-taken")
            try owner.refused("bus/register", ["interfaces": ["Free": [:], "bus": [:]]], with: "bad-params")
            try owner.refused("Free/act", with: "unknown-interface")
        }
    }

    @Test(.promise("10.3")) func actionsAreAdded() throws {
        try MemoryBus.run(.sixModules()) { bus in
            let owner = try bus.module("Ant", ["interfaces": ["Own": ["actions": ["a": [:], "b": [:]]], "Any": [:]]])
            try owner.asked(
                "bus/register",
                ["interfaces": ["OwnRouter": ["add": true, "actions": ["b": ["auth": true], "c": [:]]]]])
            let rows = try bus.operator().asked("bus/interfaces")["interfaces"]?.array ?? []
            let own = rows.first { $0["name"] == "Own" }?["actions"]
            #expect(
                own == [["name": "a", "auth": false], ["name": "b", "auth": true], ["name": "c", "auth": false]])
            for name in ["Any", "Absent"] {
                let part: JSON = ["add": true, "actions": ["d": [:]]]
                let error = try owner.refused(
                    "bus/register", ["interfaces": .object([.init(name, part)])], with: "bad-params")
                #expect(error.message.contains(name), "\(error)")
            }
        }
    }

    @Test(.promise("10.3"), arguments: [["observes": ["x"]], ["events": ["e"]], ["requires": ["Own"]]] as [JSON])
    func declarationsAfterTheStartAreRefused(_ part: JSON) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let owner = try bus.module("Ant")
            let error = try owner.refused("bus/register", part, with: "bad-params")
            #expect(error.message.contains("bus/observe"), "\(error)")
            // After that, `more` has no effect.
            try owner.asked("bus/register", ["interfaces": ["Own": [:]], "more": true])
            try bus.module("Bee").call("Own/a")
            try owner.expectCall("Own/a")
        }
    }

    @Test(.promise("5.16", "10.2", "M.20")) func whatTheRowProvidesStays() throws {
        let table = AppTable.testing(.manual("Ant", provides: ["Owned"]), .manual("Bee"))
        try MemoryBus.run(table) { bus in
            let owner = try bus.provider("Ant", "Owned")
            let other = try bus.module("Bee")
            try owner.refused("bus/unregister", ["interfaces": ["Owned": [:]]], with: "forbidden")
            try other.refused("bus/unregister", ["interfaces": ["Owned": [:]]], with: "unknown-interface")
            try other.refused("bus/register", ["interfaces": ["Owned": [:]]], with: "forbidden")
        }
    }

    @Test func whatTheRowMapsHasOneInstance() throws {
        let table = AppTable.testing(
            .manual("Ant", provides: ["Owned"]) { $0.urls = [.init(host: "h", path: "/p", to: "Owned/act")] })
        try MemoryBus.run(table) { bus in
            let owner = try bus.provider("Ant", "Owned")
            let multiple: JSON = ["interfaces": ["Owned": ["instances": "multiple"]]]
            try owner.refused("bus/register", multiple, with: "bad-params")
            try owner.asked("bus/register", ["interfaces": ["Owned": ["actions": ["act": [:]]]]])
        }
    }

    @Test func quotasHoldForWhatIsRegisteredLater() throws {
        try MemoryBus.run(
            .sixModules {
                $0.limits.interfaces = 2
                $0.limits.urls = 1
            }
        ) { bus in
            let owner = try bus.provider("Ant", "One")
            try owner.refused("bus/register", ["interfaces": ["Two": [:], "Three": [:]]], with: "overloaded")
            try owner.asked("bus/register", ["interfaces": ["Two": [:]]])
            let url: JSON = ["host": "h", "path": "/", "to": "One/act"]
            let other: JSON = ["host": "h", "path": "/a", "to": "One/act"]
            try owner.refused("bus/register", ["urls": [url, other]], with: "overloaded")
            try owner.asked("bus/register", ["urls": [url]])
        }
    }
}
