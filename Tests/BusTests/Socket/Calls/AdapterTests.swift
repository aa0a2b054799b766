import StrataCore
import StrataTesting
import Testing

/// Adapters: one interface is required, and another one is provided.
@Suite(.timeLimit(.hang))
struct AdapterTests {
    /// `NoteLogin` offers what `Login` provides under other names, and `Plain` offers what
    /// `NoteLogin` does.
    private static func table(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        AppTable.testing(
            .manual("Owner", provides: ["Login"]), .manual("Notes", rank: 2), .manual("Other", rank: 2)
        ) { table in
            var login = AppTable.Adapter(name: "NoteLogin", to: "Login")
            var show = AppTable.AdaptedAction(name: "show", to: "present")
            show.params = [.init(from: "message", to: "notifyString")]
            show.result = [.init(from: "ok", to: "done")]
            login.actions = [show]
            login.notices = [.init(from: "login.done", to: "note.loginFinished")]
            var plain = AppTable.Adapter(name: "Plain", to: "NoteLogin")
            plain.notices = [.init(from: "note.loginFinished", to: "plain.finished")]
            table.adapters = [login, plain]
            table.limits.adapted = 1_000
            change(&table)
        }
    }

    @Test(.promise("I.14", "M.25", "M.29"), arguments: ["NoteLogin/show", "NoteLoginRouter/show", "Plain/show"])
    func actionAndMembersAreRenamedBothWays(to: String) throws {
        try MemoryBus.run(Self.table()) { bus in
            let owner = try bus.module("Owner", ["interfaces": ["Login": [:]]])
            let caller = try bus.module("Notes")
            let id = try caller.call(to, ["message": "hi", "inner": ["message": 1]])
            let call = try owner.expectCall("Login/present")
            #expect(call.json == ["notifyString": "hi", "inner": ["message": 1]])
            try owner.partialReply(to: call, ["done": 1])
            try owner.reply(to: call, ["done": true, "more": 2])
            #expect(try caller.next().json == ["ok": 1])
            #expect(try caller.answer(to: id).json == ["ok": true, "more": 2])
        }
    }

    @Test(.promise("M.25")) func whatIsNotListedPassesUnderItsOwnName() throws {
        try TestBus.run(Self.table()) { bus in
            let owner = try bus.module("Owner", ["interfaces": ["Login": [:]]])
            let caller = try bus.module("Notes")
            let id = try caller.call("NoteLogin/other", ["message": 1])
            let call = try owner.expectCall("Login/other")
            #expect(call.json == ["message": 1])
            try owner.fail(call, "Login.no", "no")
            try caller.expectError(to: id, "Login.no", ran: "yes")
        }
    }

    @Test(.promise("M.26")) func valuesAreCopiedAsBytesAndTheNewNameReplaces() throws {
        try MemoryBus.run(Self.table()) { bus in
            let owner = try bus.module("Owner", ["interfaces": ["Login": [:]]])
            let caller = try bus.module("Notes")
            let body = #"{ "message" : 1.500 , "notifyString":"old", "x": [ "}" ] }"#
            try caller.send(header: #"{"kind":"call","id":900,"to":"NoteLogin/show"}"#, body: body)
            let call = try owner.expectCall("Login/present")
            #expect(String(decoding: call.body, as: UTF8.self) == #"{"notifyString":1.500,"x":[ "}" ]}"#)
        }
    }

    @Test(.promise("M.26"), arguments: ["[1]", "5", "null", ""])
    func bodyThatIsNoObjectPassesUnchanged(body: String) throws {
        try MemoryBus.run(Self.table()) { bus in
            let owner = try bus.module("Owner", ["interfaces": ["Login": [:]]])
            let caller = try bus.module("Notes")
            try caller.send(header: #"{"kind":"call","id":900,"to":"NoteLogin/show"}"#, body: body)
            #expect(String(decoding: try owner.expectCall("Login/present").body, as: UTF8.self) == body)
        }
    }

    @Test(.promise("12.3", "M.27")) func bodiesThatCannotBeRenamedAreRefusedAndTheConnectionStays() throws {
        try MemoryBus.run(Self.table()) { bus in
            let owner = try bus.module("Owner", ["interfaces": ["Login": [:]]])
            let caller = try bus.module("Notes")
            for (number, body) in ["{", #"{"a":1,"a":2}"#, "x"].enumerated() {
                try caller.send(header: #"{"kind":"call","id":\#(900 + number),"to":"NoteLogin/show"}"#, body: body)
                try caller.expectError(to: UInt64(900 + number), "bad-params", ran: "no")
            }
            let long: JSON = ["message": .string(String(repeating: "x", count: 1_000))]
            try caller.refused("NoteLogin/show", long, with: "too-large")
            try owner.expectNothing()
            // And from the other side: the handler has run.
            let broken = try caller.call("NoteLogin/show", [:])
            let call = try owner.expectCall("Login/present")
            try owner.send(header: #"{"kind":"reply","id":\#(call.id)}"#, body: "{")
            try caller.expectError(to: broken, "bad-params", ran: "yes")
            let large = try caller.call("NoteLogin/show", [:])
            try owner.reply(to: try owner.expectCall("Login/present"), long)
            try caller.expectError(to: large, "too-large", ran: "yes")
        }
    }

    @Test(.promise("I.14", "M.28")) func providersBroadcastReachesObserversOfTheNewNames() throws {
        try MemoryBus.run(Self.table()) { bus in
            let owner = try bus.module("Owner", ["interfaces": ["Login": [:]]])
            let observer = try bus.module(
                "Notes", ["observes": ["plain.finished", "note.loginFinished", "login.done"]])
            #expect(try owner.recipients(ofBroadcast: "login.done", 1) == 3)
            try observer.expectNotice("login.done", 1)
            try observer.expectNotice("note.loginFinished", 1)
            try observer.expectNotice("plain.finished", 1)
            // Broadcasts of other modules are not renamed, and reports are not.
            #expect(try bus.module("Other").recipients(ofBroadcast: "login.done") == 0)
            let report = try observer.report("login.done", to: "Notes")
            try observer.reply(to: try observer.expectNotice("login.done"))
            try observer.expectReply(to: report, body: ["observers": 1])
        }
    }

    @Test(.promise("M.29")) func providedInterfaceBeatsAnAdapter() throws {
        try MemoryBus.run(Self.table()) { bus in
            let owner = try bus.module("Owner", ["interfaces": ["Login": [:]]])
            let direct = try bus.module("Other", ["interfaces": ["NoteLogin": [:]]])
            let caller = try bus.module("Notes")
            _ = try caller.call("NoteLogin/show", ["message": 1])
            #expect(try direct.expectCall("NoteLogin/show").json == ["message": 1])
            direct.close()
            try caller.settle()
            _ = try caller.call("NoteLogin/show", ["message": 1])
            #expect(try owner.expectCall("Login/present").json == ["notifyString": 1])
        }
    }

    @Test(.promise("M.24")) func requiredNameIsDeclaredAndProvidersLevelJudged() throws {
        let table = Self.table {
            $0.calls = .declared
            $0.modules[1].requires = ["NoteLogin"]
            $0.modules[2].requires = ["Login"]
        }
        try MemoryBus.run(table) { bus in
            let owner = try bus.module("Owner", ["interfaces": ["Login": [:]]])
            let notes = try bus.module("Notes")
            let other = try bus.module("Other")
            _ = try notes.call("NoteLogin/show", [:])
            try owner.expectCall("Login/present")
            try notes.refused("Login/present", with: "undeclared")
            try other.refused("NoteLogin/show", with: "undeclared")
        }
    }

    /// An instance keeps the provider's name, which isn't declared.
    @Test func anInstanceOfARequiredNameIsItsCreatorsToCall() throws {
        let table = Self.table {
            $0.calls = .declared
            $0.modules[1].requires = ["NoteLogin"]
            $0.modules[2].requires = ["Shop"]
        }
        try MemoryBus.run(table) { bus in
            let owner = try bus.module("Owner", ["interfaces": ["Login": ["instances": "multiple"]]])
            let (notes, other) = (try bus.module("Notes"), try bus.module("Other"))
            let name = try notes.asked("bus/create", ["interface": "NoteLogin"])["instance"]?.string ?? ""
            #expect(name == "Login#1")
            let id = try notes.call("\(name)/present", [:])
            try owner.reply(to: try owner.expectCall("\(name)/present"))
            try notes.expectReply(to: id)
            try notes.refused("Login/present", with: "undeclared")
            try other.refused("\(name)/present", with: "undeclared")
            try notes.asked("bus/release", ["instance": .string(name)])
        }
    }

    @Test func adaptedCallWaitsForItsProvider() throws {
        try MemoryBus.run(Self.table { $0.modules[0].start = .eager }) { bus in
            _ = try bus.launcher()
            let caller = try bus.module("Notes")
            let id = try caller.call("NoteLogin/show", ["message": 1])
            let token = try bus.vouch(for: "Owner")
            let owner = try bus.module("Owner", ["interfaces": ["Login": [:]], "token": .string(token)])
            let call = try owner.expectCall("Login/present")
            #expect(call.json == ["notifyString": 1])
            try owner.reply(to: call, ["done": 1])
            try caller.expectReply(to: id, body: ["ok": 1])
        }
    }
}
