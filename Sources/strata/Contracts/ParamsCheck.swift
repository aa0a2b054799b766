import StrataContracts
import StrataCore

/// Checks the params of a call against the provider's contract, before they are sent.
struct ParamsCheck {
    private let destination: String
    private let checker: SchemaChecker

    /// Asks the module that provides an action for its contracts. Nil if nothing is known of the
    /// action's params, or not in time: then the module itself judges them.
    init?(_ destination: String, _ connection: CommandClient) {
        guard let (contract, name) = ContractSource.contract(ofAction: destination, connection),
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
