import StrataCore

/// The actions of one interface, as the bus knows them.
struct InterfaceActions {
    private let name: String
    private let module: String
    /// None where the interface lists none and so takes any, and where its
    /// module has not run yet.
    private let actions: [JSON.Member]

    /// Asks the bus.
    /// - Throws: `answer` for an interface that isn't there, with the names
    ///   that are near.
    init(of interface: String, _ connection: CommandClient) throws(Failure) {
        let name = Name.withoutRouterSuffix(interface)
        let known = try Self.interfaces(connection)
        guard let found = known.first(where: { $0["name"]?.string == name }) else {
            let names = known.compactMap { $0["name"]?.string }
            let hint = Self.hint(Self.slashed(name, names).map { [$0] } ?? nearestNames(to: name, in: names))
            throw Failure(
                .answer, "unknown-interface: no module here provides \(name)\(hint)", code: .unknownInterface)
        }
        self.name = name
        module = found["module"]?.string ?? ""
        actions = found["actions"].map(Self.members) ?? []
    }

    func show(_ answer: Answer) throws(Failure) {
        if answer.isForPrograms {
            for action in actions {
                var line: [JSON.Member] = [JSON.Member("action", .string("\(name)/\(action.name)"))]
                line += (action.value.object ?? []).filter { $0.name != "name" }
                try answer.show(.object(line))
            }
            return
        }
        guard !actions.isEmpty else {
            StandardOutput.write(
                line: Printable.line("\(name), of \(module), lists no actions: any is passed on, once the module runs.")
            )
            return
        }
        var table = Table(columns: [.init("ACTION"), .init("NEEDS", isFlexible: true)])
        for action in actions {
            let needs = action.value["auth"]?.bool == true ? "authorization" : ""
            table.add([.init("\(name)/\(action.name)", .bold), .init(needs, .yellow)])
        }
        table.print(answer.painter)
    }

    /// Adds the nearest names to an error about an interface or an action that
    /// isn't there, where the message doesn't name them itself.
    static func suggesting(
        for destination: String, _ failure: Failure, _ connection: CommandClient
    ) -> Failure {
        guard failure.code == .unknownInterface || failure.code == .unknownAction,
            let known = try? interfaces(connection), let slash = destination.firstIndex(of: "/")
        else { return failure }
        let interface = Name.withoutRouterSuffix(String(destination[..<slash].prefix { $0 != "#" }))
        let action = String(destination[destination.index(after: slash)...])
        var near: [String]
        if failure.code == .unknownInterface {
            near = nearestNames(to: interface, in: known.compactMap { $0["name"]?.string })
        } else {
            let found = known.first { $0["name"]?.string == interface }
            near = nearestNames(to: action, in: found?["actions"].map(members)?.map(\.name) ?? [])
        }
        near.removeAll { failure.message.contains($0) || $0 == interface }
        var failure = failure
        failure.message += hint(near.map { failure.code == .unknownAction ? "\(interface)/\($0)" : $0 })
        return failure
    }

    /// `Rules/status` of `Rules.status`, where there is an interface `Rules`.
    static func slashed(_ name: String, _ interfaces: [String]) -> String? {
        let dots = name.indices.filter { name[$0] == "." }
        guard let dot = dots.last(where: { interfaces.contains(Name.withoutRouterSuffix(String(name[..<$0]))) }) else {
            return nil
        }
        return "\(name[..<dot])/\(name[name.index(after: dot)...])"
    }

    /// A line that names what may have been meant; empty for nothing.
    static func hint(_ names: [String]) -> String {
        names.isEmpty ? "" : "\nDid you mean \(names.joined(separator: " or "))?"
    }

    private static func interfaces(_ connection: CommandClient) throws(Failure) -> [JSON] {
        let known = try connection.ask("bus/interfaces")["interfaces"]?.array ?? []
        // The bus may leave out what is no module's.
        return known + builtIn.filter { one in !known.contains { $0["name"] == one["name"] } }
    }

    /// What an operator may call of the bus and of the launcher.
    private static let builtIn: [JSON] = [
        [
            "name": "bus", "module": "the bus",
            "actions": [
                "canOpen", "emit", "interfaces", "levels", "modules", "monitor", "names", "ping", "reload", "stats",
                "watch",
            ],
        ],
        [
            "name": "launcher", "module": "the launcher",
            "actions": ["down", "lend", "logs", "reload", "restart", "start", "stop", "why"],
        ],
    ]

    /// Actions by their names: from an array of objects with a name, or from an
    /// object as in hello.
    static func members(_ actions: JSON) -> [JSON.Member] {
        if let members = actions.object { return members }
        return (actions.array ?? []).compactMap { action in
            (action.string ?? action["name"]?.string).map { JSON.Member($0, action) }
        }
    }
}
