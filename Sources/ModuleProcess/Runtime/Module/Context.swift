public import StrataCore

/// What a module is told at its start.
public struct Context: Sendable {
    /// The app's name.
    public let app: String
    /// The app's environment, such as `debug` or `release`.
    public let env: String
    /// The app's settings, from its manifest.
    public let settings: JSON
    /// What the app was started with.
    public let launchOptions: JSON
    /// The module's name, as its row has it.
    public let module: String
    /// Its level.
    public let level: String
    /// That level's place in the table: 0 for the foundation.
    public let rank: Int
    /// The level table, foundation first.
    public let levels: [String]
    /// The URL schemes that the app opens.
    public let schemes: [String]
    /// The process's arguments, without the program's name.
    public let arguments: [String]

    init(hello: JSON, setUp: JSON, arguments: [String]) {
        app = hello["app"]?.string ?? ""
        env = setUp["env"]?.string ?? hello["env"]?.string ?? ""
        settings = setUp["settings"] ?? hello["settings"] ?? [:]
        launchOptions = setUp["launchOptions"] ?? hello["launchOptions"] ?? [:]
        module = hello["module"]?.string ?? ""
        level = hello["level"]?.string ?? ""
        rank = Int(hello["rank"]?.integer ?? 0)
        levels = hello["levels"]?.array?.compactMap(\.string) ?? []
        schemes = hello["schemes"]?.array?.compactMap(\.string) ?? []
        self.arguments = arguments
    }
}
