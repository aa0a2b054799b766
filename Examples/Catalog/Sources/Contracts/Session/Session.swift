public import Strata

/// Who is signed in. It is the app's authorizer: an action with `auth: true` runs
/// only where its parameters' `token` is the session of somebody who is.
///
/// What stands here is enough for an example. Who sees a body sees the token in
/// it, nobody is locked out after wrong passwords, and sessions live in the
/// module's memory: they end with its process.
public enum Session: Interface {
    public static let name = "Session"
    public static let version: ContractVersion? = "1.0"
    public static let members: [any InterfaceMember.Type] = [
        Begin.self, SignIn.self, SignOut.self, Who.self, SessionEnded.self,
    ]

    /// How long a name or a reason may be, in bytes of UTF-8.
    public static let longest = 200

    /// Opens a session that nobody has signed in to yet. A call with its token
    /// to an action that needs somebody waits until somebody has, within its
    /// deadline.
    public struct Begin: Action {
        public static let name = action("begin")
        public static let errors: KeyValuePairs<String, String> = [
            "Session.too-many": "There are as many sessions as there may be."
        ]
        /// What somebody is to sign in for, in a person's words.
        public var reason: String

        public struct Reply: Codable, Sendable {
            public var token: String

            public init(token: String) { self.token = token }
        }

        public init(reason: String) { self.reason = reason }
    }

    /// Signs a person in.
    public struct SignIn: Action {
        public static let name = action("signIn")
        public static let errors: KeyValuePairs<String, String> = [
            "Session.wrong-password": "Name and password don't belong together.",
            "Session.no-such-session": "The token is no session's.",
            "Session.in-use": "Somebody has signed in to this session.",
        ]
        public var user: String
        public var password: String
        /// The session of `begin`, which must be the signer's own: whoever else knows
        /// its token is then signed in as they are. Without it, a new one.
        public var token: String?

        public struct Reply: Codable, Sendable {
            public var token: String
            public var user: String
            /// Until the session ends.
            public var seconds: Int

            public init(token: String, user: String, seconds: Int) {
                self.token = token
                self.user = user
                self.seconds = seconds
            }
        }

        public init(user: String, password: String, token: String? = nil) {
            self.user = user
            self.password = password
            self.token = token
        }
    }

    /// Ends a session.
    public struct SignOut: Action {
        public static let name = action("signOut")
        public static let errors: KeyValuePairs<String, String> = [
            "Session.no-such-session": "The token is no session's."
        ]
        public var token: String

        public init(token: String) { self.token = token }
    }

    /// Who has signed in to a session.
    public struct Who: Action {
        public static let name = action("who")
        public static let errors: KeyValuePairs<String, String> = [
            "Session.no-such-session": "Nobody has signed in to this session."
        ]
        public var token: String

        public struct Reply: Codable, Sendable {
            public var user: String
            /// Until the session ends.
            public var seconds: Int

            public init(user: String, seconds: Int) {
                self.user = user
                self.seconds = seconds
            }
        }

        public init(token: String) { self.token = token }
    }
}

/// A person's session is over. Its token is not told: it is nobody's business.
public struct SessionEnded: Broadcast {
    public static let name = "session.ended"

    public enum Reason: String, Codable, Sendable {
        case signedOut, expired
        /// The machine has gone to sleep.
        case suspended
        /// The person is no longer among the users.
        case dismissed
    }

    public var user: String
    public var reason: Reason

    public init(user: String, reason: Reason) {
        self.user = user
        self.reason = reason
    }
}
