import StrataCore

extension ManifestShape {
    static let adapter = ManifestShape(
        meaning: "An interface that stands in for another one.",
        keys: [
            Key("to", .text(.interface), "The interface that a row provides, or another adapter.", isRequired: true),
            Key(
                "actions", .map(keys: .action, .mapping(.adaptedAction)),
                "The actions whose name or members differ, by the caller's name."),
            Key("notices", .map(.notification), "Names of notices: the provider's, then the caller's."),
        ])

    static let adaptedAction = ManifestShape(
        meaning: "How an action differs.",
        keys: [
            Key("to", .text(.action), "The provider's name of the action. Without it, the caller's."),
            Key("params", .map(.string), "Members of the params: the caller's name, then the provider's."),
            Key("result", .map(.string), "Members of the result: the caller's name, then the provider's."),
        ])

    static let node = ManifestShape(
        meaning: "One machine of the app.",
        keys: [
            Key(
                "operates", .boolean, "Whether its operators may use the tools of the other nodes.", standard: false),
            Key("key", .path, "The file with this node's seed, instead of federation's."),
            Key("ca", .path, "The file with the certificates that servers are checked by, instead of federation's."),
        ], mayBeEmpty: true)

    static let federation = ManifestShape(
        meaning: "How the nodes reach each other, over NATS.",
        keys: [
            Key(
                "servers", .list(.text(.server), count: ManifestRules.servers, isDistinct: true),
                "The NATS servers, as tls://HOST:PORT, or nats:// for this machine."),
            Key("key", .path, "The file with a node's seed."),
            Key("ca", .path, "The file with the certificates that servers are checked by."),
            Key(
                "window", .size(ManifestRules.window),
                "The bytes that are under way to one node and not acknowledged, at most.",
                standard: .string(Quantities.text(size: standard.window))),
            Key(
                "lost", .time(atLeast: 1), "How long a node may be silent until it counts as lost, from 2s to 60s.",
                standard: time(standard.lost)),
            Key(
                "join", .time(atLeast: 0),
                "How long a request waits for a node that has not joined yet, from 0s to 10m.",
                standard: time(standard.join)),
            Key(
                "unguarded", .boolean, "Accepts servers that let a node speak in the name of another one.",
                standard: .bool(standard.unguarded)),
            Key("user", .written, "The user that the link runs as. Needs group."),
        ])

    private static let standard = Federation()
}
