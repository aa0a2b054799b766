import StrataContracts
import StrataCore
import StrataOperator

/// Checks the params of a call against the provider's contract, before they are sent.
struct ParamsCheck {
    /// How long the bus may take to answer a question, in milliseconds. A module that hangs mustn't
    /// keep a call from being sent.
    private static let patience: UInt64 = 500

    private let destination: String
    private let checker: SchemaChecker

    /// Asks the module that provides an action for its contracts. Nil if nothing is known of the
    /// action's params, or not in time: then the module itself judges them.
    init?(_ destination: String, _ connection: CommandClient) {
        guard let slash = destination.firstIndex(of: "/") else { return nil }
        let interface = Name.withoutRouterSuffix(String(destination[..<slash].prefix { $0 != "#" }))
        let name = String(destination[slash...].dropFirst())
        guard !Name.isReserved(interface), connection.welcome.features.contains(BrokerFeature.contracts),
            let rows = try? connection.interfaces(patience: Self.patience),
            let row = rows.first(where: { $0.name == interface }),
            let contracts = try? ContractSource.contracts(of: row.module, connection, deadline: Self.patience),
            let contract = contracts.provides.first(where: { $0.subject.name == interface }),
            let params = contract.action(name)?.params
        else { return nil }
        self.destination = destination
        checker = contract.checker(for: params)
    }

    /// - Parameter body: The params; none stand for null, and null for an object without members.
    /// - Throws: `answer` with the place of what is wrong.
    func check(_ body: [UInt8]) throws(Failure) {
        let isNull = body.isEmpty || (try? JSON(parsing: body)) == .null
        guard let verdict = try? checker.check(text: isNull ? Array("{}".utf8) : body),
            case .refused(let mismatch) = verdict,
            // A type that takes null takes it as it is.
            !isNull || (try? checker.check(text: Array("null".utf8))) != .allowed
        else { return }
        throw Failure(
            .answer,
            "bad-params: \(Printable.line(destination)): \(Printable.line(mismatch.description))"
                + (isNull ? "" : Params.mark(body, mismatch.range))
                + "\n`strata introspect \(Printable.line(destination))` shows the params; --unchecked sends these.",
            code: .badParams)
    }
}
