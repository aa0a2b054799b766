import Glibc
import Strata
import StrataTesting
import Testing

/// `Notes/add` needs somebody who has signed in, whichever way it is asked.
@Suite(.timeLimit(.minutes(10)))
struct SignInTests {
    private static let memo = """
          Memo:
            to: Notes
            actions: {write: {to: add, params: {package: item}}}
        """

    private func note(_ token: String?, _ text: String = "x") -> JSON {
        var members: [JSON.Member] = [.init("item", "package1"), .init("text", .string(text))]
        if let token { members.append(.init("token", .string(token))) }
        return .object(members)
    }

    @Test func withoutASignInThereIsNoWayToAdd() throws {
        let app = try CatalogApp(adapters: Self.memo)
        let tool = app.tool
        for token in [nil, "", "ffffffffffffffffffffffffffffffff"] {
            try tool.refused("Notes/add", note(token), with: "unauthorized")
            try tool.refused("NotesRouter/add", note(token), with: "unauthorized")
            try tool.refused("Memo/write", note(token), with: "unauthorized")
            try tool.refused("Memo/add", note(token), with: "unauthorized")
            let query = token.map { "&token=\($0)" } ?? ""
            try tool.expectError(
                to: try tool.open("catalog://note/package1?text=x\(query)"), "unauthorized", ran: "no")
        }
        try tool.refused("Notes/add", note(nil), ["auth": "skip"], with: "forbidden")
        // The question is the bus's own, and an answer to another allows nothing.
        try tool.refused("Session/authorize", note(nil), with: "Session.not-the-bus", ran: "yes")
        #expect(try tool.asked("Notes/list") == [])
        try app.end()
    }

    @Test func whoSignsInAddsNotesUntilTheySignOut() throws {
        let app = try CatalogApp(adapters: Self.memo)
        let tool = app.tool
        for (user, password) in [("ada", "hopper"), ("nobody", ""), ("ada", "lovelace\0")] {
            try tool.refused(
                "Session/signIn", ["user": .string(user), "password": .string(password)],
                with: "Session.wrong-password", ran: "yes")
        }
        try tool.refused(
            "Session/signIn", ["user": .string(String(repeating: "a", count: 201)), "password": ""],
            with: "bad-params", ran: "yes")
        let token = try app.signIn()
        #expect(try tool.asked("Session/who", ["token": .string(token)])["user"] == "ada")
        #expect(try tool.asked("Notes/add", note(token))["writer"] == "ada")
        #expect(
            try tool.asked("Memo/write", ["package": "package2", "text": "x", "token": .string(token)])["item"]
                == "package2")
        let opened = try tool.open("catalog://note/package3?text=x&token=\(token)")
        try tool.expectReply(to: opened, body: ["item": "package3", "writer": "ada"])
        // Notes hears of the end by the name that it gave it, and tells Log.
        let log = try app.monitor(["name": "log.line", "bodies": true])
        try tool.asked("Session/signOut", ["token": .string(token)])
        try log.find(
            ["id": 1_000], body: ["body": ["text": "ada leaves, having written 3"]])
        try tool.refused("Notes/add", note(token), with: "unauthorized")
        try tool.refused("Session/signOut", ["token": .string(token)], with: "Session.no-such-session", ran: "yes")
        try app.end()
    }

    @Test func callWaitsForSomebodyToSignIn() throws {
        let app = try CatalogApp()
        let tool = app.tool
        let token = try #require(try tool.asked("Notes/begin")["token"]?.string)
        let add = try held(tool, token)
        // Another's sign-in is none to this session.
        _ = try app.signIn("grace", "hopper")
        try tool.expectNothing()
        try tool.asked("Session/signIn", ["user": "ada", "password": "lovelace", "token": .string(token)])
        try tool.expectReply(to: add, body: ["writer": "ada", "text": "held"])
        try tool.refused(
            "Session/signIn", ["user": "grace", "password": "hopper", "token": .string(token)], with: "Session.in-use",
            ran: "yes")
        try app.end()
    }

    @Test func onlySomeMayWait() throws {
        let app = try CatalogApp(["session.held: 8": "session.held: 2"])
        let tool = app.tool
        let token = try #require(try tool.asked("Notes/begin")["token"]?.string)
        let adds = [try held(tool, token), try held(tool, token)]
        let refusal = try tool.refused("Notes/add", note(token), with: "unauthorized")
        #expect(refusal.message.contains("2 calls wait"))
        // Who gives up makes room, and so does who has waited long enough.
        try tool.cancel(adds[0])
        try tool.expectError(to: adds[0], "cancelled", ran: "no")
        let short = try addOnceThereIsRoom(tool, token, deadline: 1)
        let answer = try short.answer ?? tool.answer(to: short.id)
        #expect(answer.code == "deadline-exceeded" && answer.ran == "no")
        let again = try addOnceThereIsRoom(tool, token, deadline: 600_000)
        #expect(again.answer == nil)
        try tool.asked("Session/signOut", ["token": .string(token)])
        for add in [adds[1], again.id] { try tool.expectError(to: add, "unauthorized", ran: "no") }
        #expect(try tool.asked("Notes/list") == [])
        try app.end()
    }

    @Test func tokenIsWorthNothingAfterItsTime() throws {
        let app = try CatalogApp(["session.lifetime: 3600": "session.lifetime: 1"])
        let tool = app.tool
        let ends = try app.monitor(["name": "session.ended", "bodies": true])
        let token = try app.signIn()
        try ends.find(
            ["id": 1_000], body: ["body": ["user": "ada", "reason": "expired"]])
        try tool.refused("Notes/add", note(token), with: "unauthorized")
        try tool.refused("Session/who", ["token": .string(token)], with: "Session.no-such-session", ran: "yes")
        try app.end()
    }

    @Test func sessionsDeathRefusesWhatItHeldAndEndsAllSessions() throws {
        let app = try CatalogApp()
        let tool = app.tool
        let signedIn = try app.signIn("grace", "hopper")
        let token = try #require(try tool.asked("Notes/begin")["token"]?.string)
        let add = try held(tool, token)
        let pid = try app.pid(of: "Session")
        kill(Int32(pid), SIGKILL)
        try tool.expectError(to: add, "unauthorized", ran: "no")
        // It is asked as soon as it is back, and knows nobody.
        let answer = try tool.ask("Notes/add", note(signedIn))
        #expect(answer.code == "unauthorized")
        #expect(try app.pid(of: "Session") != pid)
        #expect(try tool.asked("Notes/add", note(try app.signIn()))["writer"] == "ada")
        try app.end()
    }

    @Test func sleepAndDismissalEndSessions() throws {
        let app = try CatalogApp()
        let tool = app.tool
        let ends = try app.monitor(["name": "session.ended", "bodies": true])
        let (ada, grace) = (try app.signIn(), try app.signIn("grace", "hopper"))
        try app.setUsers(
            try app.read("users").split(separator: "\n").filter { !$0.hasPrefix("grace") }.joined(separator: "\n"))
        #expect(try app.emit("app.reload")["answer"] == true)
        try ends.find(
            ["id": 1_000], body: ["body": ["user": "grace", "reason": "dismissed"]])
        try tool.refused("Notes/add", note(grace), with: "unauthorized")
        #expect(try tool.asked("Notes/add", note(ada))["writer"] == "ada")
        #expect(try app.emit("app.suspend")["answer"] == true)
        try ends.find(
            ["id": 1_000], body: ["body": ["user": "ada", "reason": "suspended"]])
        try tool.refused("Notes/add", note(ada), with: "unauthorized")
        try app.end()
    }

    /// A call that Session holds: it has begun to wait when this returns.
    private func held(_ tool: RawPeer, _ token: String) throws -> UInt64 {
        let add = try tool.call("Notes/add", note(token, "held"), ["deadline": 600_000])
        // Session is asked in order, and runs up to its wait before it reads on.
        try tool.refused("Session/who", ["token": .string(token)], with: "Session.no-such-session", ran: "yes")
        try tool.expectNothing()
        return add
    }

    /// A call that Session takes, and what it was answered where that came at once.
    /// The place of one that has ended is free as soon as Session has heard of it.
    private func addOnceThereIsRoom(
        _ tool: RawPeer, _ token: String, deadline: Int64
    ) throws -> (id: UInt64, answer: ReceivedFrame?) {
        while true {
            let add = try tool.call("Notes/add", note(token), ["deadline": .integer(deadline)])
            try tool.refused("Session/who", ["token": .string(token)], with: "Session.no-such-session", ran: "yes")
            let answer = try tool.drain().first { $0.id == add }
            if answer?.code != "unauthorized" { return (add, answer) }
        }
    }
}
