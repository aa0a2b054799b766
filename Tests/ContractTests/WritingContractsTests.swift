import ContractSamples
import StrataContracts
import StrataCore
import StrataTesting
import TestSupport
import Testing

@Suite(.timeLimit(.hang))
struct WritingContractsTests {
    @Test func randomContractsAreWrittenReadAndWrittenAsTheSameBytes() throws {
        for seed in 0..<1_000 {
            var random = RandomContract(seed: seed)
            let contract = random.contract()
            let bytes = contract.encoded()
            let read = try Contract(parsing: bytes)
            #expect(read == contract, "seed \(seed)")
            #expect(read.encoded() == bytes, "seed \(seed)")
        }
    }
}
