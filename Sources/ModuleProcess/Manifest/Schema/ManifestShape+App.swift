import StrataCore

extension ManifestShape {
    private static let table = AppTable(app: "")

    /// The whole manifest.
    static let app = ManifestShape(
        meaning: "The manifest of an app.",
        keys: [
            Key("app", .text(.app), "The name of the app and of its socket.", isRequired: true),
            Key(
                "env", .text(.word), "A word that is passed to each module. STRATA_ENV overrides it.",
                standard: .string(table.env)),
            Key("schemes", .names(.scheme), "The URL schemes that can be opened."),
            Key(
                "levels", .list(.text(.module), count: 1...Int.max, isDistinct: true),
                "The level table, foundation first.", standard: .array(table.levels.map { .string($0) })),
            Key("settings", .any, "Values of settings, which modules get in hello and in setUp."),
            Key("launchOptions", .any, "Any value, passed like settings. strata up -- KEY=VALUE adds to it."),
            Key(
                "calls", ManifestType(choice: ManifestRules.calls),
                "What modules may call: anything, interfaces of their own and earlier levels, or of these the declared ones.",
                standard: .string(table.calls.rawValue)),
            Key("authorizer", .text(.interface), "The interface that is asked about actions with auth: true."),
            Key("guests", .mapping(.guests), "Allows modules that no row names."),
            Key(
                "operators", .list(.written),
                "The users who may use the app's tools, besides the broker's user and root. Needs group."),
            Key("openableBy", .mapping(.openableBy), "The users whose apps may open the app's public URLs."),
            Key("group", .written, "The socket's group, which moves its default path."),
            Key("limits", .mapping(.limits), "Quotas of connections, modules and messages."),
            Key(
                "startup", .time(atLeast: 1),
                "The time limit for hello with all its parts, and for each of setUp, initialize and didStart.",
                standard: time(table.startup)),
            Key(
                "hello", .time(atLeast: 1), "The time limit from connecting to hello.", standard: time(table.hello)),
            Key(
                "assembly", .time(atLeast: 1), "The time limit for one frame, from its first byte.",
                standard: time(table.assembly)),
            Key("modules", .rows, "One row for each module, by name."),
            Key(
                "include",
                .either([.text(.include), .list(.text(.include), count: ManifestRules.includes)]),
                "Files with further rows. In the last part of a path, * stands for any text."),
            Key("adapters", .map(keys: .interface, .mapping(.adapter)), "Interfaces that stand in for others."),
            Key(
                "contracts", ManifestType(choice: ManifestRules.contracts), "Whether versions of contracts must fit.",
                standard: .string(table.contracts.rawValue)),
            Key(
                "nodes", .map(keys: .node, .mapping(.node), count: ManifestRules.nodes),
                "The app's machines, if it has several."),
            Key("federation", .mapping(.federation), "How the nodes reach each other. Needs nodes."),
        ])

    static let guests = ManifestShape(
        meaning: "Modules that no row names.",
        keys: [
            Key("level", .level, "The level of guests.", isRequired: true),
            Key("most", .integer(ManifestRules.guests), "How many there may be at once.", isRequired: true),
            Key("users", .map(.level), "The level of guests that run as a user."),
            Key(
                "names", .map(keys: .module, .level),
                "The level of guests of a name, if it is later than their user's."),
        ])

    static let openableBy = ManifestShape(
        meaning: "Who may open the app's public URLs from other apps.",
        keys: [
            Key("users", .list(.written, count: 1...Int.max), "The users whose apps may.", isRequired: true),
            Key("level", .level, "The level of what they open.", isRequired: true),
        ])

    static let limits = ManifestShape(
        meaning: "The app's quotas.",
        keys: LimitKey.all.map { key in
            Key(
                key.name, key.isSize ? .size(key.range) : .integer(key.range), key.meaning, standard: key.standard)
        })

    /// Returns a time as a manifest has it.
    static func time(_ milliseconds: UInt64) -> JSON { .string(Quantities.text(time: milliseconds)) }
}
