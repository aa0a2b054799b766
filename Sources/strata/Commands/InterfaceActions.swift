import StrataContracts
import StrataCore
import StrataOperator
import StrataStubs

/// The actions of one interface, as the bus knows them.
struct InterfaceActions {
    let interface: InterfaceRow

    /// Asks the bus for the interface.
    /// - Throws: `answer` for an unknown interface, with similar names.
    init(of interface: String, _ connection: CommandClient) throws(Failure) {
        let name = Name.withoutRouterSuffix(interface)
        let known = try Self.interfaces(connection)
        guard let found = known.first(where: { $0.name == name }) else {
            let names = known.map(\.name)
            let hint = Self.hint(Self.slashed(name, names).map { [$0] } ?? nearestNames(to: name, in: names))
            throw Failure(
                .answer, "unknown-interface: no module here provides \(name)\(hint)", code: .unknownInterface)
        }
        self.interface = found
    }

    /// - Parameter contract: The interface's contract, if it is known: then the actions are shown as signatures.
    func show(_ answer: Answer, _ contract: Contract?) throws(Failure) {
        if answer.isForPrograms {
            for action in interface.actions {
                var members: [JSON.Member] = [
                    .init("action", .string("\(interface.name)/\(action.name)")),
                    .init("auth", .bool(action.needsAuthorization)),
                ]
                if let params = contract?.action(action.name)?.params { members.append(.init("params", params.json())) }
                try answer.show(.object(members))
            }
            return
        }
        // The interface takes any action, or its module has not run yet.
        guard !interface.actions.isEmpty else {
            StandardOutput.write(
                line: Printable.line(
                    "\(interface.name), of \(interface.module), lists no actions: once the module runs, calls of any "
                        + "action reach it."
                )
            )
            return
        }
        var table = Table(columns: [.init("ACTION"), .init("NEEDS", isFlexible: true)])
        for action in interface.actions {
            let needs = action.needsAuthorization ? "authorization" : ""
            let signature = contract.flatMap { contract in
                contract.action(action.name).map { ContractText(contract).signature(of: $0) }
            }
            table.add([.init("\(interface.name)/\(signature ?? action.name)", .bold), .init(needs, .yellow)])
        }
        table.print(answer.painter)
    }

    /// Adds the nearest names to an error about an unknown interface or action, unless the
    /// message already has them.
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
            near = nearestNames(to: interface, in: known.map(\.name))
        } else {
            near = nearestNames(to: action, in: known.first { $0.name == interface }?.actions.map(\.name) ?? [])
        }
        near.removeAll { failure.message.contains($0) || $0 == interface }
        var failure = failure
        failure.message += hint(near.map { failure.code == .unknownAction ? "\(interface)/\($0)" : $0 })
        return failure
    }

    /// Returns `Rules/status` for `Rules.status` if there is an interface `Rules`.
    static func slashed(_ name: String, _ interfaces: [String]) -> String? {
        let dots = name.indices.filter { name[$0] == "." }
        guard let dot = dots.last(where: { interfaces.contains(Name.withoutRouterSuffix(String(name[..<$0]))) }) else {
            return nil
        }
        return "\(name[..<dot])/\(name[name.index(after: dot)...])"
    }

    /// Returns a line that suggests names; empty if there are none.
    static func hint(_ names: [String]) -> String {
        names.isEmpty ? "" : "\nDid you mean \(names.joined(separator: " or "))?"
    }

    private static func interfaces(_ connection: CommandClient) throws(Failure) -> [InterfaceRow] {
        try connection.interfaces() + builtIn
    }

    /// The actions of the bus and of the launcher that an operator may call.
    private static let builtIn = [
        builtIn(
            "bus",
            [
                "canOpen", "emit", "interfaces", "levels", "modules", "monitor", "names", "ping", "reload", "retained",
                "stats",
                "watch",
            ]),
        builtIn("launcher", ["down", "lend", "logs", "reload", "restart", "start", "stop", "why"]),
    ]

    private static func builtIn(_ name: String, _ actions: [String]) -> InterfaceRow {
        InterfaceRow([
            "name": .string(name), "module": .string("the \(name)"),
            "actions": .array(actions.map { ["name": .string($0)] }),
        ])
    }
}
