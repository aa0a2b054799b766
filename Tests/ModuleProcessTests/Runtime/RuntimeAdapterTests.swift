import StrataCore
import Testing

@testable import Strata

/// The interface that a module needs, under names of its own. It imports nothing of the provider.
private enum NoteLogin: Interface {
    static let name = "NoteLogin"

    struct Show: Action {
        static let name = action("show")
        var message: String

        struct Reply: Codable, Sendable {
            var ok: Bool
        }
    }

    struct Attempts: StreamingAction {
        static let name = action("attempts")
        var message: String

        struct Element: Codable, Sendable, Equatable {
            var attempt: Int
        }
    }

    struct Finished: Broadcast {
        static let name = "note.loginFinished"
        var user: String
    }
}

/// The interface that is provided, without regard to who needs it.
private enum Login: Interface {
    static let name = "Login"

    struct Present: Action {
        static let name = action("present")
        var notifyString: String

        struct Reply: Codable, Sendable {
            var done: Bool
        }
    }

    struct Tries: StreamingAction {
        static let name = action("tries")
        var notifyString: String

        struct Element: Codable, Sendable {
            var number: Int
        }
    }

    struct Done: Broadcast {
        static let name = "login.done"
        var user: String
    }
}

private final class LoginModule: Module {
    static let name = "Login"
    private let bus: Bus

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.action(Login.Present.self) { [bus] request in
            guard request.notifyString != "no" else { throw ModuleError("Login.refused", "not today") }
            try bus.broadcast(Login.Done(user: request.notifyString))
            return Login.Present.Reply(done: true)
        }
        exports.stream(Login.Tries.self) { request in
            AsyncStream { continuation in
                for number in 1...3 { continuation.yield(Login.Tries.Element(number: number)) }
                continuation.finish()
            }
        }
        exports.broadcasts(Login.Done.self)
    }
}

private final class NotesModule: Module {
    static let name = "Notes"
    private let bus: Bus
    private(set) var users: [String] = []

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.requires(NoteLogin.self)
        exports.observe(NoteLogin.Finished.self) { [self] finished in users.append(finished.user) }
        exports.action("Notes/write") { [bus] call in
            let reply = try await bus.call(NoteLogin.Show(message: try call.params.string ?? ""))
            return .bool(reply.ok)
        }
    }
}

/// Adapters of the manifest, with Swift modules at both ends.
@Suite(.timeLimit(.hang))
struct RuntimeAdapterTests {
    private static let manifest = """
        app: notes
        calls: declared
        modules:
          Login: {start: manual, provides: [Login], broadcasts: [login.done]}
          Notes: {level: topout, start: manual, requires: [NoteLogin], observes: [note.loginFinished]}
        adapters:
          NoteLogin:
            to: Login
            actions:
              show: {to: present, params: {message: notifyString}, result: {ok: done}}
              attempts: {to: tries, params: {message: notifyString}, result: {attempt: number}}
            notices: {login.done: note.loginFinished}
        """

    @Test(.promise("I.14")) func requiredInterfaceIsMetByAnotherOne() async throws {
        try await RuntimeApp.run(Self.manifest, [LoginModule.self, NotesModule.self]) { app in
            let bus = app.bus(of: NotesModule.self)
            #expect(try await bus.call("Notes/write", "ada") == true)
            // The broadcast came before the reply.
            #expect(app.module(NotesModule.self).users == ["ada"])
            var attempts: [NoteLogin.Attempts.Element] = []
            for try await attempt in try bus.stream(NoteLogin.Attempts(message: "ada")) { attempts.append(attempt) }
            #expect(attempts == (1...3).map { NoteLogin.Attempts.Element(attempt: $0) })
            let error = await #expect(throws: BusError.self) { try await bus.call(NoteLogin.Show(message: "no")) }
            #expect(error?.code == "Login.refused")
            // The provider's own name is not declared.
            let undeclared = await #expect(throws: BusError.self) {
                try await bus.call(Login.Present(notifyString: "ada"))
            }
            #expect(undeclared?.code == .undeclared)
        }
    }

    @Test func adaptersNoticeIsObservedAtRunTimeToo() async throws {
        try await RuntimeApp.run(Self.manifest, [LoginModule.self, NotesModule.self]) { app in
            let bus = app.bus(of: NotesModule.self)
            var users: [String] = []
            let observation = try await bus.observe(NoteLogin.Finished.self) { users.append($0.user) }
            _ = try await bus.call("Notes/write", "ada")
            #expect(users == ["ada"])
            try await observation.end()
            _ = try await bus.call("Notes/write", "bob")
            #expect(users == ["ada"])
            #expect(app.module(NotesModule.self).users == ["ada", "bob"])
        }
    }
}
