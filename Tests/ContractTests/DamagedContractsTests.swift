import ContractSamples
import StrataComparing
import StrataContracts
import StrataCore
import StrataTesting
import Testing

/// Whatever bytes the reader gets, it says what is wrong with them, or it reads a contract.
@Suite(.timeLimit(.hang))
struct DamagedContractsTests {
    @Test func damagedDocumentsAreRefusedOrReadAsSomethingWhole() throws {
        var (read, refused) = (0, 0)
        for seed in 0..<2_000 {
            var random = RandomContract(seed: seed)
            var bytes = random.contract().json().encoded()
            for _ in 0...random.generator.below(3) { damage(&bytes, &random.generator) }
            do {
                let contract = try Contract(parsing: bytes)
                read += 1
                #expect(try Contract(parsing: contract.encoded()) == contract, "seed \(seed)")
                #expect(contract.changes(from: contract).result == .same, "seed \(seed)")
            } catch {
                refused += 1
                #expect(error.path.hasPrefix("$") && !error.message.isEmpty, "seed \(seed): \(error)")
                #expect(error.message.utf8.count < 1_024, "seed \(seed): \(error)")
            }
        }
        #expect(read > 50 && refused > 500, "\(read) were read, \(refused) refused")
    }

    /// Replaces a token by another one, so that most of the damage isn't to the JSON.
    private func damage(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let tokens = ["null", "true", "-1", "1.5", "\"a\"", "{}", "[]", "\"string\"", "\"type\"", "\"items\"", "9e99"]
        let place = generator.below(bytes.count)
        guard let start = bytes[place...].firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ",") }),
            let end = bytes[(start + 1)...].firstIndex(where: { [UInt8(ascii: ","), UInt8(ascii: "}")].contains($0) })
        else { return }
        switch generator.below(4) {
        case 0: bytes.removeSubrange(start..<end)
        case 1: bytes.insert(contentsOf: bytes[start..<end], at: end)
        default: bytes.replaceSubrange((start + 1)..<end, with: tokens[generator.below(tokens.count)].utf8)
        }
    }

    @Test func schemasAreReadAlone() throws {
        let list = Schema(.array(Schema(.reference("T")), minimum: nil, maximum: nil))
        let definitions = ["T": Schema(.null)]
        #expect(try Schema(json: list.json(), definitions: definitions) == list)
        #expect(throws: ContractError.self) { try Schema(json: list.json()) }
    }
}
