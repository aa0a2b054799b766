import StrataCore

extension ManifestShape {
    private static let process = ModuleProcess(name: "", folder: "")

    static let row = ManifestShape(
        meaning: "A module.",
        keys: [
            Key("level", .level, "The module's level. Without it, the first one."),
            Key("priority", .integer(nil), "Within a level, a module of higher priority starts first.", standard: 0),
            Key(
                "run", .list(.written, count: 1...Int.max),
                "The program and its arguments. Its path is relative to the manifest's folder."),
            Key("folder", .path, "The working directory, relative to the manifest's folder."),
            Key("env", .map(keys: .variable, .written), "Variables for the process."),
            Key(
                "keepEnv", .list(.text(.variable)),
                "The launcher's variables that the process gets. Without it, all; with a user, none."),
            Key(
                "replace", ManifestType(choice: ManifestRules.replace),
                "Whether strata restart ends the old process first, or starts the new one beside it.",
                standard: .string(process.replace.rawValue)),
            Key("user", .written, "The user of the system that the process runs as. Needs group."),
            Key(
                "start", ManifestType(choice: ManifestRules.start),
                "When the module starts: with the app, without being waited for, with its first request, or by hand."),
            Key(
                "idle", .time(atLeast: 1),
                "Stops a module that starts on demand after this long without a request. Without it, never."),
            Key(
                "restart", ManifestType(choice: ManifestRules.restart),
                "Whether the module is started again when its process has ended.",
                standard: .string(process.restart.rawValue)),
            Key("backoff", .mapping(.backoff), "The delays between two starts."),
            Key(
                "stop", .time(atLeast: 0), "The time from tearDown to SIGTERM, and again from SIGTERM to SIGKILL.",
                standard: time(process.stop)),
            Key(
                "ping", .either([.time(atLeast: 1), .mapping(.ping)]),
                "Restarts the module if it answers no ping for this long. Without it, nobody asks."),
            Key("limits", .mapping(.processLimits), "The limits of the process."),
            Key(
                "replicas", .either([.integer(ManifestRules.replicas), .mapping(.replicas)]),
                "How many processes of the module share its work: a number, or least and most for strata scale."),
            Key("provides", .names(.interface), "The interfaces that are reserved for this row."),
            Key(
                "requires", .names(.required),
                "The interfaces that it calls, alone or with a version, as in Storage@2.1."),
            Key(
                "urls", .map(.either([.text(.urlTarget), .mapping(.urlTarget)])),
                "URL patterns such as item/:name, each with the Interface/action that it leads to."),
            Key(
                "observes", .list(.either([.notification, .mapping(.observation)])),
                "The notifications that it observes from hello on: names, or patterns like storage.*."),
            Key("broadcasts", .notifications, "What it broadcasts. Enforced under calls: declared."),
            Key(
                "retained", ManifestType(choice: ManifestRules.retained),
                "Whether what it broadcasts with retain is kept until its session ends, or until the app ends.",
                standard: .string(AppTable.Retained.session.rawValue)),
            Key(
                "reports", .map(keys: .module, .notifications),
                "What it reports to which module. Enforced under calls: declared."),
            Key("emits", .notifications, "The events that it may emit."),
            Key(
                "manages", .names(.module), "Other rows that it may start, stop and restart."),
            Key(
                "wakes", .notifications,
                "With start: on-demand, the notifications or events that start the module."),
            Key("trusted", .boolean, "Whether it may say auth: skip.", standard: false),
            Key(
                "required", .boolean, "Whether the app ends if the module fails. Needs run, and start: eager or async.",
                standard: false),
            Key("opens", .map(keys: .scheme, .mapping(.otherApp)), "The schemes of other apps whose URLs it may open."),
            Key(
                "contracts", ManifestType(choice: ManifestRules.rowContracts),
                "Under contracts: enforced, says that the versions of this module aren't compared."),
            Key("settings", .map(.any), "Values of settings for this module."),
            Key("secrets", .map(.mapping(.secret)), "The secrets of this module, each in a file or a variable."),
            Key(
                "node", .either([.choice([AppTable.Placement.all]), .written, .list(.written, count: 1...Int.max)]),
                "Where the module runs: a node, a list of nodes, or all. Required with nodes."),
        ], mayBeEmpty: true)

    static let backoff = ManifestShape(
        meaning: "The delays between two starts.",
        keys: [
            Key(
                "first", .time(atLeast: 0), "The delay before the first restart. It doubles with each death.",
                standard: time(process.backoff.first)),
            Key("most", .time(atLeast: 0), "The longest delay.", standard: time(process.backoff.most)),
            Key(
                "reset", .time(atLeast: 0), "How long the module must be ready until the delays begin anew.",
                standard: time(process.backoff.reset)),
        ])

    static let ping = ManifestShape(
        meaning: "How the module is watched.",
        keys: [
            Key(
                "every", .time(atLeast: 1), "How often the broker asks, and how long it waits for the answer.",
                isRequired: true),
            Key("restart", .boolean, "Whether a module that doesn't answer is restarted.", standard: true),
        ])

    static let processLimits = ManifestShape(
        meaning: "The limits of a process.",
        keys: [
            Key("memory", .size(ManifestRules.memory), "The memory, as in 256MiB. A process beyond it is killed."),
            Key("files", .integer(ManifestRules.files), "The number of files that the process may have open."),
            Key(
                "processes", .integer(ManifestRules.processes),
                "The number of processes of its user. It never holds root."),
        ])

    static let replicas = ManifestShape(
        meaning: "How many processes of a module share its work.",
        keys: [
            Key("least", .integer(ManifestRules.replicas), "How many there are at the start.", isRequired: true),
            Key("most", .integer(ManifestRules.replicas), "How many strata scale may ask for.", isRequired: true),
        ])

    static let urlTarget = ManifestShape(
        meaning: "Where a URL leads, and whether other apps may open it.",
        keys: [
            Key("to", .text(.urlTarget), "The Interface/action. This row provides the interface.", isRequired: true),
            Key("public", .boolean, "Whether the apps of the users in openableBy may open it.", standard: false),
        ])

    static let observation = ManifestShape(
        meaning: "What the module observes.",
        keys: [
            Key("name", .notification, "The notification's name, or a pattern of names.", isRequired: true),
            Key("object", .written, "Observes what is about this object alone."),
            Key(
                "keep", ManifestType(choice: ManifestRules.keep),
                "Whether all notices wait while the module is busy, or the latest alone.",
                standard: .string(AppTable.Keep.all.rawValue)),
            Key(
                "share", .boolean, "With replicas, whether one replica gets each notice instead of all.",
                standard: false),
        ])

    static let otherApp = ManifestShape(
        meaning: "Another app on this machine.",
        keys: [
            Key("app", .text(.otherApp), "The app of this name, or one node of it, as in catalog@tokyo."),
            Key("socket", .text(.socket), "The app that listens at this absolute path."),
            Key("user", .written, "The user that must run it. Without it, the user of this app's broker."),
        ], oneOf: ["app", "socket"])

    static let secret = ManifestShape(
        meaning: "Where a secret is read from.",
        keys: [
            Key("file", .path, "A file, relative to the manifest's folder."),
            Key("env", .text(.variable), "A variable of the launcher."),
        ], oneOf: ["file", "env"])
}
