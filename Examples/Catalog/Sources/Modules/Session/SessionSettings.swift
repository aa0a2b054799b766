import Strata

/// What the manifest may set of Session.
struct SessionSettings: ModuleSettings {
    static let defaults: JSON = ["session.users": "users", "session.lifetime": 3600, "session.held": 8]

    /// The file of who may sign in: `name:hash` lines.
    var users: String
    /// The seconds that a session lasts.
    var lifetime: UInt32
    /// How many calls may wait for somebody to sign in.
    var held: Int

    private enum CodingKeys: String, CodingKey {
        case users = "session.users"
        case lifetime = "session.lifetime"
        case held = "session.held"
    }
}
