import StrataComparing
import StrataContracts
import StrataCore
import StrataTesting

/// Two documents of contracts, one on the first line and one after it. Each must be refused with its
/// place, or be written and read as the same contract. Comparisons must agree in both directions, and
/// samples must be allowed by their schemas.
enum ContractTarget {
    static func run(_ input: inout InputReader) throws(FuzzFinding) {
        let old = try read(input.line())
        let new = try read(input.rest())
        guard let old, let new else { return }
        let (forward, backward) = (new.changes(from: old), old.changes(from: new))
        guard isWhole(forward), isWhole(backward) else { return }
        try demand(
            (forward.result == .same) == (backward.result == .same),
            "one way the contracts are \(forward.result), the other way \(backward.result)")
    }

    /// Returns the contract in a text; nil if it was refused.
    private static func read(_ text: [UInt8]) throws(FuzzFinding) -> Contract? {
        let contract: Contract
        do throws(ContractError) {
            contract = try Contract(parsing: text)
        } catch {
            try demand(error.path.hasPrefix("$"), "the path \(error.path) doesn't begin at the document")
            try demand((1..<2_048).contains(error.message.utf8.count), "the message is \(error.message)")
            return nil
        }
        let written = contract.encoded()
        let again: Contract
        do throws(ContractError) {
            again = try Contract(parsing: written)
        } catch {
            throw FuzzFinding("what was written isn't read: \(error)")
        }
        try demand(again.encoded() == written, "it is written in two ways")
        let comparison = contract.changes(from: contract)
        try demand(comparison.result == .same || !isWhole(comparison), "it differs from itself: \(comparison.changes)")
        for action in contract.actions {
            guard let params = action.params else { continue }
            var generator = SeededGenerator(1)
            let sampler = SchemaSampler(params, definitions: contract.definitions)
            guard let sample = sampler.sample(using: &generator) else { continue }
            if case .refused(let mismatch) = contract.checker(for: params).check(sample) {
                throw FuzzFinding("the sample \(sample) is refused: \(mismatch)")
            }
        }
        return contract
    }

    /// Whether a comparison didn't reach a bound.
    private static func isWhole(_ comparison: ContractComparison) -> Bool {
        comparison.changes.last?.old != "compared in part"
    }
}
