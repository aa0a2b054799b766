import StrataCore
import StrataTesting
import Testing

/// The protocol's section 10: `register` and `unregister`.
@Suite(.timeLimit(.minutes(1)))
struct RegisterTests {
    @Test func whatIsRegisteredLaterIsCalledLater() throws {
        try TestBus.run(.sixModules()) { bus in
            let owner = try bus.module("Ant")
            let caller = try bus.module("Bee")
            try caller.refused("Late/act", with: "unknown-interface")
            try owner.asked("bus/register", ["interfaces": ["LateRouter": ["actions": ["act": [:]]]]])
            try caller.call("Late/act")
            try owner.expectCall("Late/act")
            try caller.refused("Late/other", with: "unknown-action")
            // Again for one's own replaces.
            try owner.asked("bus/register", ["interfaces": ["Late": ["actions": ["other": [:]]]]])
            try caller.refused("Late/act", with: "unknown-action")
            try caller.call("Late/other")
            try owner.expectCall("Late/other")
            try owner.asked("bus/unregister", ["interfaces": ["Late": [:]]])
            try caller.refused("Late/other", with: "unknown-interface")
        }
    }

    @Test func registeringIsAllOrNothing() throws {
        try TestBus.run(.sixModules()) { bus in
            _ = try bus.provider("Ant", "Taken")
            let owner = try bus.module("Bee")
            try owner.refused("bus/register", ["interfaces": ["Free": [:], "Taken": [:]]], with: "name-taken")
            try owner.refused("bus/register", ["interfaces": ["Free": [:], "bus": [:]]], with: "bad-params")
            try owner.refused("Free/act", with: "unknown-interface")
        }
    }

    @Test func whatTheRowProvidesStays() throws {
        let table = AppTable.testing(.manual("Ant", provides: ["Owned"]), .manual("Bee"))
        try TestBus.run(table) { bus in
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
        try TestBus.run(table) { bus in
            let owner = try bus.provider("Ant", "Owned")
            let multiple: JSON = ["interfaces": ["Owned": ["instances": "multiple"]]]
            try owner.refused("bus/register", multiple, with: "bad-params")
            try owner.asked("bus/register", ["interfaces": ["Owned": ["actions": ["act": [:]]]]])
        }
    }

    @Test func quotasHoldForWhatIsRegisteredLater() throws {
        try TestBus.run(
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
