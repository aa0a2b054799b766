import LogInterface
import SessionInterface
import Strata

/// Signs people in, and says to the bus which calls they may make: those with the
/// token of a session that somebody has signed in to.
@main
final class SessionModule: Module {
    static let name = "Session"

    private let bus: Bus
    private var users = Users()
    private var sessions = SessionTable(lifetime: 3_600_000)
    private let held = HeldCalls()
    private var isWatching = false

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.settings(SessionSettings.self)
        exports.reports(LogLine.self, to: Log.name)
        exports.reports(LogWarning.self, to: Log.name)
        exports.broadcasts(SessionEnded.self)
        exports.action(Session.Begin.self, perform: begin)
        exports.action(Session.SignIn.self, perform: signIn)
        exports.action(Session.SignOut.self, perform: signOut)
        exports.action(Session.Who.self, perform: who)
        exports.action("Session/authorize", perform: authorize)
        exports.event("app.reload") { _ in try await self.readUsers() }
        // The loop's clock stands still while the machine sleeps.
        exports.event("app.suspend") { _ in self.end(.suspended) { _, _ in true } }
    }

    func setUp(_ context: Context) async throws {
        let seconds = context.settings(as: SessionSettings.self).lifetime
        guard 1...31_536_000 ~= seconds else {
            throw ModuleError("Session.bad-lifetime", "session.lifetime is \(seconds): 1 to 31536000 seconds")
        }
        sessions.lifetime = UInt64(seconds) * 1_000
        try await readUsers()
    }

    private var settings: SessionSettings { bus.settings(as: SessionSettings.self) }

    /// Whoever is no longer among them is signed out.
    private func readUsers() async throws {
        let path = settings.users
        let users = try await blocking { try Users(path: path) }
        self.users = users
        end(.dismissed) { _, user in user.map { !users.contains($0) } ?? false }
    }

    // MARK: Sessions

    private func begin(_ request: Session.Begin) throws -> Session.Begin.Reply {
        try check(request.reason, "a reason")
        let token = try enter(Token.make(), user: nil)
        bus.log("somebody is asked to sign in: \(request.reason)")
        return Session.Begin.Reply(token: token)
    }

    private func signIn(_ request: Session.SignIn) async throws -> Session.SignIn.Reply {
        try check(request.user, "a name")
        let known = users
        let isRight = try await blocking(label: "crypt") { known.accept(request.password, of: request.user) }
        // The users may have been read anew meanwhile.
        guard isRight, users.contains(request.user) else {
            bus.warn("a wrong name or password for \(request.user)")
            throw ModuleError("Session.wrong-password", "\(request.user) is no user here, or has another password")
        }
        if let token = request.token {
            switch sessions.state(of: token, at: bus.now) {
            case .none: throw noSuchSession()
            case .user: throw ModuleError("Session.in-use", "somebody has signed in to that session: sign out first")
            case .open: break
            }
        }
        let token = try enter(request.token ?? Token.make(), user: request.user)
        held.release(token)
        bus.log("\(request.user) has signed in")
        return Session.SignIn.Reply(token: token, user: request.user, seconds: seconds(token))
    }

    private func signOut(_ request: Session.SignOut) throws {
        guard sessions.state(of: request.token, at: bus.now) != .none else { throw noSuchSession() }
        end(.signedOut) { token, _ in token == request.token }
    }

    private func who(_ request: Session.Who) throws -> Session.Who.Reply {
        guard case .user(let user) = sessions.state(of: request.token, at: bus.now) else { throw noSuchSession() }
        return Session.Who.Reply(user: user, seconds: seconds(request.token))
    }

    private func enter(_ token: String, user: String?) throws -> String {
        endExpired()
        guard !sessions.isFull || sessions.state(of: token, at: bus.now) == .open else {
            throw ModuleError("Session.too-many", "there are \(SessionTable.most) sessions, the most: sign one out")
        }
        sessions.set(token, user: user, at: bus.now)
        try watch()
        return token
    }

    /// What comes from outside stands in the log.
    private func check(_ text: String, _ what: String) throws {
        guard text.utf8.count <= Session.longest else {
            throw ModuleError.badParams("\(what) of \(text.utf8.count) bytes: \(Session.longest) are the most")
        }
    }

    private func seconds(_ token: String) -> Int { Int(sessions.rest(of: token, at: bus.now) / 1_000) }

    private func noSuchSession() -> ModuleError {
        ModuleError(
            "Session.no-such-session",
            "the token is no session's, or nobody has signed in to it, or it is over: Session/signIn gives another")
    }

    // MARK: Their end

    private func end(_ reason: SessionEnded.Reason, where isMeant: (_ token: String, _ user: String?) -> Bool) {
        over(sessions.take(where: isMeant), reason)
    }

    private func endExpired() { over(sessions.takeExpired(at: bus.now), .expired) }

    private func over(_ ended: [(token: String, user: String?)], _ reason: SessionEnded.Reason) {
        for (token, user) in ended {
            held.release(token)
            // Without a bus nobody is there to be told.
            if let user { try? bus.broadcast(SessionEnded(user: user, reason: reason)) }
        }
    }

    /// Ends each session in its time. All last equally long, so that a new one
    /// never ends before those that are waited for.
    private func watch() throws {
        guard !isWatching else { return }
        try bus.background("the sessions' end") { [self] in
            defer { isWatching = false }
            while let next = sessions.nextEnd {
                try await sleep(milliseconds: next > bus.now ? Int(next - bus.now) : 0)
                endExpired()
            }
        }
        isWatching = true
    }

    // MARK: The bus's question

    /// Whether a call may run. One whose session nobody has signed in to yet is
    /// held until somebody has; the end of its time, and of its caller, cancels
    /// that.
    private func authorize(_ call: Call) async throws -> JSON {
        guard call.from == "bus" else {
            throw ModuleError("Session.not-the-bus", "the bus alone asks this; Session/who tells who has signed in")
        }
        let action = (try? JSON(parsing: call.meta))?["to"]?.string ?? "this"
        guard let token = try call.params["token"]?.string else {
            return refusal("\(action) needs somebody: sign in with Session/signIn, and send the `token` of its answer")
        }
        if sessions.state(of: token, at: bus.now) == .open {
            guard held.count < settings.held else {
                return refusal(
                    "\(settings.held) calls wait for somebody to sign in (session.held): sign in before \(action)")
            }
            await held.wait(for: token)
            try Task.checkCancellation()
        }
        guard case .user = sessions.state(of: token, at: bus.now) else {
            return refusal("the token sent to \(action) is nobody's, or no longer: Session/signIn gives another")
        }
        return ["allow": true]
    }

    private func refusal(_ reason: String) -> JSON { ["allow": false, "reason": .string(reason)] }
}
