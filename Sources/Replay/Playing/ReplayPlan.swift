public import StrataCore

/// What a module is played with: its program, and what hello and its start tell it.
public struct ReplayPlan: Sendable {
    /// The module's name.
    public var module: String
    /// The program's path, and its arguments.
    public var words: [String]
    /// Its working folder; nil for this process's.
    public var folder: String?
    /// The variables that it gets beside this process's.
    public var environment: [String: String] = [:]
    /// The members of hello's answer that say what the app is; see docs/protocol.md, section 5.
    public var welcome: [JSON.Member]
    /// The app's `env` and `launchOptions`, for a start that isn't in the recording.
    public var env = "release"
    public var launchOptions: JSON = [:]
    /// The values of settings, for a start that isn't in the recording.
    public var settings: [JSON.Member] = []
    /// The row's secrets, which a recording doesn't have.
    public var secrets: [String: String] = [:]
    /// What the row observes, beside what hello says.
    public var observes: [JSON] = []
    /// The level of each module by its name.
    public var levels: [String: String] = [:]
    /// How long the module has for each step; to connect, 30 s at least.
    public var patience: Duration = .seconds(5)
    /// Whether frames come at their recorded distances.
    public var keepsTimes = false
    /// Members that aren't compared.
    public var ignored: Set<String> = []

    public init(module: String, words: [String], welcome: [JSON.Member]) {
        (self.module, self.words, self.welcome) = (module, words, welcome)
    }

    /// Returns the settings of a recorded body, with the secrets that this row has.
    func withSecrets(_ body: JSON) -> JSON {
        guard !secrets.isEmpty, let members = body.object, let values = body["settings"]?.object else { return body }
        let known = values.map { member in
            member.value == .string(AppTable.Secret.hidden)
                ? JSON.Member(member.name, secrets[member.name].map(JSON.string) ?? member.value) : member
        }
        return .object(members.map { $0.name == "settings" ? JSON.Member($0.name, .object(known)) : $0 })
    }

    /// Returns the values that a module gets that declares some settings, or none.
    func settings(declared: [JSON]?) -> JSON {
        guard let declared else { return .object(settings) }
        let values: [JSON.Member] = declared.compactMap { key in
            guard let name = key.string ?? key["name"]?.string else { return nil }
            if key["secret"]?.bool == true { return secrets[name].map { .init(name, .string($0)) } }
            return settings.first { $0.name == name }
        }
        return .object(values)
    }
}
